// All C++ of eddy: the tree of toml++ becomes one of plain C. No exception leaves this file.
#include "toml.h"

extern "C" {
#include "text/arena.h"
}

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace
{

// A text has led the parser to where it never thought to be.
struct lost {
};

[[noreturn]] void get_lost()
{
	throw lost();
}

} // namespace

// What the parser asserts of itself does not hold for every text: `[.a]` would end the process.
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : get_lost())
// Headers alone, whatever its package says: nothing is linked, which has no archive in Debian.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace
{

struct eddy_str dup(struct eddyi_arena *arena, std::string_view text)
{
	struct eddy_str copy = eddyi_arena_dup(arena, eddy_str(text.data(), text.size()));

	if (!copy.ptr)
		throw std::bad_alloc();
	return copy;
}

// As RFC 3339 has it; a date, a time and an offset are each there or not.
struct eddy_str dup_time(struct eddyi_arena *arena, const toml::node &node)
{
	const toml::date_time *both = node.is_date_time() ? &node.as_date_time()->get() : nullptr;
	const toml::date *date = both ? &both->date : node.is_date() ? &node.as_date()->get() : nullptr;
	const toml::time *time = both ? &both->time : node.is_time() ? &node.as_time()->get() : nullptr;
	char text[64];
	size_t len = 0;

	if (date)
		len += snprintf(text, sizeof(text), "%04d-%02d-%02d", date->year, date->month, date->day);
	if (both)
		text[len++] = 'T';
	if (time)
		len += snprintf(text + len, sizeof(text) - len, "%02d:%02d:%02d", time->hour, time->minute,
				time->second);
	if (time && time->nanosecond)
		len += snprintf(text + len, sizeof(text) - len, ".%09u", time->nanosecond);
	if (both && both->offset && !both->offset->minutes) {
		text[len++] = 'Z';
	} else if (both && both->offset) {
		int minutes = both->offset->minutes;

		len += snprintf(text + len, sizeof(text) - len, "%c%02d:%02d", minutes < 0 ? '-' : '+',
				abs(minutes) / 60, abs(minutes) % 60);
	}
	return dup(arena, std::string_view(text, len));
}

struct eddyi_toml *convert(struct eddyi_arena *arena, const toml::node &node);

void convert_children(struct eddyi_arena *arena, struct eddyi_toml *to, const toml::node &node)
{
	struct eddyi_toml **end = &to->first;

	if (const toml::table *table = node.as_table()) {
		for (auto &&[key, value] : *table) {
			*end = convert(arena, value);
			(*end)->key = dup(arena, key.str());
			if (key.source().begin.line)
				(*end)->line = key.source().begin.line;
			end = &(*end)->next;
		}
	} else {
		for (auto &&value : *node.as_array()) {
			*end = convert(arena, value);
			end = &(*end)->next;
		}
	}
}

struct eddyi_toml *convert(struct eddyi_arena *arena, const toml::node &node)
{
	void *memory = eddyi_arena_alloc(arena, sizeof(struct eddyi_toml));
	struct eddyi_toml *to;

	if (!memory)
		throw std::bad_alloc();
	to = new (memory) eddyi_toml();
	to->line = node.source().begin.line;
	switch (node.type()) {
	case toml::node_type::table:
		to->type = EDDYI_TOML_TABLE;
		convert_children(arena, to, node);
		break;
	case toml::node_type::array:
		to->type = EDDYI_TOML_ARRAY;
		convert_children(arena, to, node);
		break;
	case toml::node_type::string:
		to->type = EDDYI_TOML_STRING;
		to->text = dup(arena, node.as_string()->get());
		break;
	case toml::node_type::integer:
		to->type = EDDYI_TOML_INTEGER;
		to->integer = node.as_integer()->get();
		break;
	case toml::node_type::floating_point:
		to->type = EDDYI_TOML_FLOAT;
		to->real = node.as_floating_point()->get();
		break;
	case toml::node_type::boolean:
		to->type = EDDYI_TOML_BOOL;
		to->flag = node.as_boolean()->get();
		break;
	default:
		to->type = EDDYI_TOML_TIME;
		to->text = dup_time(arena, node);
	}
	return to;
}

bool gets_lost(std::string_view text) noexcept
{
	try {
		static_cast<void>(toml::parse(text));
	} catch (const lost &) {
		return true;
	} catch (...) {
	}
	return false;
}

// The byte at which the parser gets lost ends the shortest beginning of the text in which it does.
void find_where(std::string_view text, struct eddyi_toml_error *error) noexcept
{
	size_t before = 0, at = text.size();

	while (at - before > 1) {
		size_t middle = before + (at - before) / 2;

		(gets_lost(text.substr(0, middle)) ? at : before) = middle;
	}
	error->line = error->column = 1;
	for (char c : text.substr(0, before)) {
		error->column = c == '\n' ? 1 : error->column + 1;
		error->line += c == '\n';
	}
}

} // namespace

int eddyi_toml_parse(struct eddy_str text, struct eddyi_arena *arena, struct eddyi_toml **ret_root,
		     struct eddyi_toml_error *ret_error)
{
	unsigned deep = eddyi_toml_deep_line(text), strange = eddyi_toml_strange_line(text);

	*ret_error = {};
	if (deep) {
		ret_error->line = deep;
		snprintf(ret_error->text, sizeof(ret_error->text), "deeper than %d levels",
			 EDDYI_TOML_DEPTH_MAX);
		return -EBADMSG;
	}
	if (strange) {
		ret_error->line = strange;
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "a character beyond ASCII outside of a string, or behind a backslash");
		return -EBADMSG;
	}
	try {
		toml::table root = toml::parse(std::string_view(text.ptr, text.len));

		*ret_root = convert(arena, root);
		return 0;
	} catch (const toml::parse_error &error) {
		ret_error->line = error.source().begin.line;
		ret_error->column = error.source().begin.column;
		snprintf(ret_error->text, sizeof(ret_error->text), "%.*s",
			 (int)error.description().size(), error.description().data());
		return -EBADMSG;
	} catch (const lost &) {
		find_where(std::string_view(text.ptr, text.len), ret_error);
		snprintf(ret_error->text, sizeof(ret_error->text), "neither a key nor a value begins so");
		return -EBADMSG;
	} catch (const std::bad_alloc &) {
		return -ENOMEM;
	} catch (const std::exception &error) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%s", error.what());
		return -EBADMSG;
	} catch (...) {
		snprintf(ret_error->text, sizeof(ret_error->text), "not understood");
		return -EBADMSG;
	}
}
