#include "pairs.h"

#include "path.h"

#include <errno.h>

int eddyi_pairs_find(const struct eddy_pairs *pairs, const char *name, struct eddy_str *ret_value)
{
	struct eddy_str value = eddy_pairs_get(pairs, name);

	if (!value.ptr)
		return -ENOENT;
	*ret_value = value;
	return 0;
}

/* Count non-empty pieces between ampersands. */
static size_t count_pieces(struct eddy_str text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.len; i++)
		count += text.ptr[i] != '&' && (i == 0 || text.ptr[i - 1] == '&');
	return count;
}

int eddyi_pairs_parse(struct eddyi_arena *arena, struct eddy_str text, struct eddy_pairs *ret_pairs)
{
	size_t count = count_pieces(text);
	struct eddy_pair *list;

	if (count > EDDYI_PAIRS_MAX)
		return -EMSGSIZE;
	list = eddyi_arena_alloc(arena, count * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (eddyi_path_next_pair(arena, &text, &list[i].name, &list[i].value) < 0)
			return -ENOMEM;
	*ret_pairs = (struct eddy_pairs){ list, count };
	return 0;
}
