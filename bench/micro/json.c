/* json: what JSON into structs and back costs, beside a tree of jansson.
 *
 *     json read|write|jansson-read|jansson-write ITEMS SECONDS
 *
 * "jansson-read" parses as an HTTP server must (without duplicates) and finds the same values. A
 * count is of KiB. Ten items have about a KiB. */
#include "micro.h"

#include <eddy/json_text.h>
#include <errno.h>
#include <jansson.h>

struct item {
	int64_t id;
	struct eddy_str name, text;
	double price;
	bool sold;
};

static const struct eddy_member item_members[] = {
	EDDY_MEMBER(struct item, id),   EDDY_MEMBER(struct item, name, .range = { 1, 100 }),
	EDDY_MEMBER(struct item, text), EDDY_MEMBER(struct item, price),
	EDDY_MEMBER(struct item, sold),
};

struct page {
	int64_t total;
	struct item *items;
	size_t count;
};

static const struct eddy_member page_members[] = {
	EDDY_MEMBER(struct page, total),
	EDDY_ARRAY(struct page, items, count, .of = EDDY_SHAPE(struct item, item_members)),
};

/* ---- eddy ---- */

static char memory[1 << 20];
static size_t taken;

/* As from an arena. */
static void *alloc(void *arg, size_t size)
{
	(void)arg;
	taken += (size + 15) & ~(size_t)15;
	return taken <= sizeof(memory) ? memory + taken - ((size + 15) & ~(size_t)15) : NULL;
}

static bool read_page(struct eddy_str text, struct page *page)
{
	struct eddy_json_reader reader = { .alloc = alloc };

	taken = 0;
	return eddy_json_read(&reader, text, page_members, page) == 0;
}

static void *keep(void *arg, struct eddy_str text, size_t size)
{
	(void)text;
	return size <= sizeof(memory) ? arg : NULL;
}

static size_t write_page(const struct page *page)
{
	static char text[sizeof(memory)];
	struct eddy_json_writer writer = { .grow = keep, .arg = text };

	return eddy_json_write(&writer, page_members, page) == 0 ? writer.text.len : 0;
}

/* ---- jansson ---- */

static bool take_str(const json_t *json, const char *name, struct eddy_str *ret_str)
{
	const json_t *value = json_object_get(json, name);

	*ret_str = eddy_str(json_string_value(value), json_string_length(value));
	return json_is_string(value);
}

static bool jansson_read(struct eddy_str text, struct page *page)
{
	json_t *json = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL), *items;
	bool ok = json != NULL;

	page->total = json_integer_value(json_object_get(json, "total"));
	items = json_object_get(json, "items");
	page->count = json_array_size(items);
	for (size_t i = 0; i < page->count; i++) {
		const json_t *item = json_array_get(items, i);

		page->items[i].id = json_integer_value(json_object_get(item, "id"));
		ok &= take_str(item, "name", &page->items[i].name);
		ok &= take_str(item, "text", &page->items[i].text);
		page->items[i].price = json_number_value(json_object_get(item, "price"));
		page->items[i].sold = json_is_true(json_object_get(item, "sold"));
	}
	json_decref(json);
	return ok;
}

static size_t jansson_write(const struct page *page)
{
	json_t *items = json_array();
	json_t *json = json_pack("{s:I, s:o}", "total", (json_int_t)page->total, "items", items);
	char *text;
	size_t len;

	for (size_t i = 0; i < page->count; i++) {
		const struct item *item = &page->items[i];

		json_array_append_new(items, json_pack("{s:I, s:s%, s:s%, s:f, s:b}", "id",
						       (json_int_t)item->id, "name", item->name.ptr,
						       item->name.len, "text", item->text.ptr,
						       item->text.len, "price", item->price, "sold",
						       (int)item->sold));
	}
	text = json_dumps(json, JSON_COMPACT);
	len = text ? strlen(text) : 0;
	free(text);
	json_decref(json);
	return len;
}

/* ---- samples ---- */

static struct eddy_str make_text(size_t count)
{
	struct eddy_json_writer writer = { 0 };
	struct page page = { .total = 123456, .items = calloc(count, sizeof(struct item)) };

	for (page.count = 0; page.count < count; page.count++)
		page.items[page.count] = (struct item){
			.id = 1000000 + (int64_t)page.count,
			.name = EDDY_STR("a name of usual length"),
			.text = page.count % 4 ? EDDY_STR("plain words") :
						 EDDY_STR("two\nlines, and \xc3\xa4"),
			.price = 0.25 + (double)page.count,
			.sold = page.count % 2,
		};
	if (eddy_json_write(&writer, page_members, &page) < 0)
		micro_die("the text can't be written");
	free(page.items);
	return writer.text;
}

int main(int argc, char **argv)
{
	struct page page = { 0 };
	struct eddy_str text;
	struct micro micro;
	bool ok = true, is_read, is_eddy;
	size_t count, bytes = 0;

	if (argc != 4)
		return 2;
	is_eddy = strncmp(argv[1], "jansson", 7) != 0;
	is_read = strstr(argv[1], "read") != NULL;
	count = (size_t)atol(argv[2]);
	text = make_text(count);
	ok = read_page(text, &page) && page.count == count;
	if (is_read && !is_eddy)
		page.items = calloc(count, sizeof(*page.items));
	micro = micro_begin(atof(argv[3]));
	do {
		uint64_t before = bytes / 1024;

		for (size_t i = 0; i < 1 + 10000 / count; i++) {
			if (is_read)
				ok &= is_eddy ? read_page(text, &page) : jansson_read(text, &page);
			else
				ok &= (is_eddy ? write_page(&page) : jansson_write(&page)) > 0;
			bytes += text.len;
		}
		if (!micro_goes_on(&micro, bytes / 1024 - before))
			break;
	} while (ok);
	if (!ok)
		micro_die("a text is refused");
	micro_print(&micro);
	if (is_read && !is_eddy)
		free(page.items);
	return 0;
}
