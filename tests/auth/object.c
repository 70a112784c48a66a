/* Tests of the one pass over a token's JSON: it takes and refuses what jansson does, and finds the same values. */
#include "../runtime/failing.h"
#include "same.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>

#define CLAIMS                                                                                     \
	"{\"iss\":\"https://issuer.example\",\"aud\":[\"a\",\"b\"],\"exp\":1700000000,"            \
	"\"nbf\":-1, \"n\" : 0,\"name\":\"J\xc3\xb6rg\",\"ok\":true,\"no\":[false,null,{}],"       \
	"\"realm_access\":{\"roles\":[\"x\",[\"y\"]],\"x\":{\"roles\":1}},\"\":\"\"}"

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Pieces that make a difference to a reader of JSON. */
static const struct {
	const char *text;
	size_t len;
} pieces[] = {
#define PIECE(text)                                                                                \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
	PIECE("\""),
	PIECE("\\"),
	PIECE("\\u0061"),
	PIECE("\\u0000"),
	PIECE("\\ud83d"),
	PIECE("\0"),
	PIECE("\t"),
	PIECE(" "),
	PIECE("\x1f"),
	PIECE("\x7f"),
	PIECE("\xc3\xa4"),
	PIECE("\xc0\x80"),
	PIECE("\xed\xa0\x80"),
	PIECE("\xf4\x8f\xbf\xbf"),
	PIECE("\xf4\x90\x80\x80"),
	PIECE("\xef\xbf\xbf"),
	PIECE("{"),
	PIECE("}"),
	PIECE("["),
	PIECE("]"),
	PIECE(","),
	PIECE(":"),
	PIECE("0"),
	PIECE("-"),
	PIECE("1.5"),
	PIECE("e9"),
	PIECE("1e999"),
	PIECE("123456789012345678"),
	PIECE("9223372036854775807"),
	PIECE("9223372036854775808"),
	PIECE("true"),
	PIECE("null"),
	PIECE("\"n\":1,"),
	PIECE("\"a\":{\"n\":1,\"n\":2},"),
	PIECE(",\"z\":[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]"),
	PIECE(",\"z\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]"),
#undef PIECE
};

/* Replace up to 3 bytes somewhere by a piece, or by nothing. */
static size_t mutate(char *text, size_t len, uint64_t *state)
{
	size_t which = draw(state) % (sizeof(pieces) / sizeof(*pieces) + 1);
	size_t at = draw(state) % (len + 1), gone = draw(state) % 4;
	size_t piece_len = which ? pieces[which - 1].len : 0;

	if (gone > len - at)
		gone = len - at;
	memmove(text + at + piece_len, text + at + gone, len - at - gone);
	if (which)
		memcpy(text + at, pieces[which - 1].text, piece_len);
	return len - gone + piece_len;
}

Test(object, is_read_as_jansson_reads_it)
{
	uint64_t state = 1;
	int quick = 0;

	for (int i = 0; i < 200000; i++) {
		char text[sizeof(CLAIMS) + 200] = CLAIMS, *exact;
		size_t len = sizeof(CLAIMS) - 1;

		for (uint64_t times = draw(&state) % 4; times; times--)
			len = mutate(text, len, &state);
		/* Its end is that of the memory. */
		exact = memcpy(malloc(len + !len), text, len);
		quick += expect_same_object(eddy_str(exact, len));
		free(exact);
	}
	cr_expect_gt(quick, 60000);
}

Test(object, has_64_values_without_a_tree)
{
	for (int count = 62; count <= 64; count++) {
		char text[1024], *at = stpcpy(text, "{");

		for (int i = 0; i < count; i++)
			at += sprintf(at, "%s\"n%d\":%d", i ? "," : "", i, i);
		stpcpy(at, "}");
		cr_expect_eq(expect_same_object(eddy_str_from(text)), count < 64, "%d", count);
	}
}

static void *take_tree(void *object)
{
	return (void *)eddyi_object_tree(object);
}

Test(object, makes_one_tree_for_all_threads)
{
	struct eddyi_object object;
	pthread_t threads[4];
	void *tree;

	cr_assert_eq(eddyi_object_init(&object, eddy_str_from(CLAIMS)), 0);
	cr_assert_gt(object.count, 0);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, take_tree, &object), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &tree);
		cr_expect_not_null(tree);
		cr_expect_eq(tree, eddyi_object_tree(&object));
	}
	eddyi_object_deinit(&object);
}

Test(object, without_memory_has_its_values_but_no_tree)
{
	struct eddyi_object object;

	json_set_alloc_funcs(malloc, free);
	cr_assert_eq(eddyi_object_init(&object, eddy_str_from(CLAIMS)), 0);
	failing_at = 1;
	cr_expect_null(eddyi_object_tree(&object));
	failing_at = 0;
	cr_expect_eq(eddyi_object_get(&object, "exp").number, 1700000000);
	cr_expect_not_null(eddyi_object_tree(&object));
	eddyi_object_deinit(&object);
}
