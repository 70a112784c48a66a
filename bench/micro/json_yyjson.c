/* json_yyjson: the texts of json.c by yyjson.
 *
 *     json_yyjson read|write ITEMS SECONDS
 *
 * main.py builds it if EDDY_YYJSON is the folder of yyjson's sources. Documents are in memory that is
 * allocated once. A count is of KiB. yyjson accepts duplicate names, which json.c rejects.
 */
#include "micro.h"

#include <string.h>
#include <yyjson.h>

struct text {
	const char *ptr;
	size_t len;
};

struct item {
	int64_t id;
	struct text name, text;
	double price;
	bool sold;
};

struct page {
	int64_t total;
	struct item *items;
	size_t count;
};

static char memory[8 << 20];

static bool take_text(yyjson_val *object, const char *name, struct text *ret_text)
{
	yyjson_val *value = yyjson_obj_get(object, name);

	*ret_text = (struct text){ yyjson_get_str(value), yyjson_get_len(value) };
	return ret_text->ptr != NULL;
}

static bool read_page(char *text, size_t len, struct page *page)
{
	yyjson_alc alc;
	yyjson_doc *doc;
	yyjson_val *root, *items, *item;
	size_t i, count;
	bool ok = true;

	yyjson_alc_pool_init(&alc, memory, sizeof(memory));
	doc = yyjson_read_opts(text, len, 0, &alc, NULL);
	root = yyjson_doc_get_root(doc);
	page->total = yyjson_get_sint(yyjson_obj_get(root, "total"));
	items = yyjson_obj_get(root, "items");
	page->count = yyjson_arr_size(items);
	yyjson_arr_foreach(items, i, count, item)
	{
		page->items[i].id = yyjson_get_sint(yyjson_obj_get(item, "id"));
		ok &= take_text(item, "name", &page->items[i].name);
		ok &= take_text(item, "text", &page->items[i].text);
		page->items[i].price = yyjson_get_num(yyjson_obj_get(item, "price"));
		page->items[i].sold = yyjson_get_bool(yyjson_obj_get(item, "sold"));
	}
	yyjson_doc_free(doc);
	return ok && page->count > 0;
}

static char *write_page(const struct page *page, size_t *ret_len)
{
	yyjson_alc alc;
	yyjson_mut_doc *doc;
	yyjson_mut_val *root, *items;
	char *text;

	yyjson_alc_pool_init(&alc, memory, sizeof(memory));
	doc = yyjson_mut_doc_new(&alc);
	root = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, root);
	yyjson_mut_obj_add_sint(doc, root, "total", page->total);
	items = yyjson_mut_obj_add_arr(doc, root, "items");
	for (size_t i = 0; i < page->count; i++) {
		const struct item *from = &page->items[i];
		yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, items);

		yyjson_mut_obj_add_sint(doc, item, "id", from->id);
		yyjson_mut_obj_add_strn(doc, item, "name", from->name.ptr, from->name.len);
		yyjson_mut_obj_add_strn(doc, item, "text", from->text.ptr, from->text.len);
		yyjson_mut_obj_add_real(doc, item, "price", from->price);
		yyjson_mut_obj_add_bool(doc, item, "sold", from->sold);
	}
	text = yyjson_mut_write_opts(doc, 0, &alc, ret_len, NULL);
	yyjson_mut_doc_free(doc);
	return text;
}

static struct page make_page(size_t count)
{
	struct page page = { 123456, calloc(count, sizeof(struct item)), count };

	for (size_t i = 0; i < count; i++)
		page.items[i] = (struct item){
			.id = 1000000 + (int64_t)i,
			.name = { "a name of usual length", 22 },
			.text = i % 4 ? (struct text){ "plain words", 11 } :
					(struct text){ "two\nlines, and \xc3\xa4", 17 },
			.price = 0.25 + (double)i,
			.sold = i % 2,
		};
	return page;
}

int main(int argc, char **argv)
{
	struct page page;
	struct micro micro;
	char *text;
	bool ok = true, is_read;
	size_t count, len, bytes = 0;

	if (argc != 4)
		return 2;
	is_read = !strcmp(argv[1], "read");
	count = (size_t)atol(argv[2]);
	page = make_page(count);
	text = write_page(&page, &len);
	text = text ? memcpy(malloc(len), text, len) : NULL;
	micro = micro_begin(atof(argv[3]));
	do {
		uint64_t before = bytes / 1024;
		size_t written = len;

		for (size_t i = 0; ok && i < 1 + 10000 / count; i++) {
			if (is_read)
				ok = read_page(text, len, &page);
			else
				ok = write_page(&page, &written) != NULL && written == len;
			bytes += len;
		}
		if (!micro_goes_on(&micro, bytes / 1024 - before))
			break;
	} while (ok);
	if (!ok)
		micro_die("a text is refused");
	micro_print(&micro);
	return 0;
}
