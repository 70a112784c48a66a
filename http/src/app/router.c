#include "router.h"

#include <errno.h>
#include <stdlib.h>

/* ---- patterns ---- */

static bool is_name(struct eddy_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (!(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
		    c != '_' && c != '-')
			return false;
	}
	return text.len > 0;
}

/* Find a parameter as other frameworks write it: `:id`, `*`, `*path`, `<id>`, `[id]` or `(.*)`. Taken
 * as text, it would not match what its author means.
 * Return: how to write it here; NULL for other text. */
static const char *find_foreign(struct eddyi_arena *arena, struct eddy_str raw)
{
	bool is_rest = raw.len && raw.ptr[0] == '*';
	struct eddy_str name = eddy_str_skip(raw, raw.len > 0), type;
	char last = raw.len ? raw.ptr[raw.len - 1] : 0;
	const char *text;
	bool is_bracketed;

	if (!raw.len)
		return NULL;
	is_bracketed = (raw.ptr[0] == '<' && last == '>') || (raw.ptr[0] == '[' && last == ']') ||
		       (raw.ptr[0] == '(' && last == ')');
	if (raw.ptr[0] != ':' && !is_rest && !is_bracketed)
		return NULL;
	if (is_bracketed) {
		/* A type may come first: `<int:id>`. */
		name.len -= 1;
		if (memchr(name.ptr, ':', name.len))
			eddy_str_split(&name, ':', &type);
	}
	if (!is_name(name))
		name = is_rest ? EDDY_STR("path") : EDDY_STR("name");
	if (is_rest)
		text = eddyi_arena_printf(
			       arena,
			       "write the rest of a path as {%.*s...}, at the end, instead of "
			       "%.*s; a literal * is %%2A",
			       EDDY_FMT(name), EDDY_FMT(raw))
			       .ptr;
	else
		text = eddyi_arena_printf(
			       arena,
			       "write a parameter as {%.*s} instead of %.*s; a literal %c is "
			       "%%%02X",
			       EDDY_FMT(name), EDDY_FMT(raw), raw.ptr[0], (unsigned)raw.ptr[0])
			       .ptr;
	return text ? text : "out of memory";
}

/* Add the name in `{…}`. Return: what is wrong with it; NULL: nothing. */
static const char *add_name(struct eddyi_pattern *pattern, struct eddy_str name)
{
	if (!name.len)
		return "a parameter has no name";
	if (!is_name(name))
		return memchr(name.ptr, ':', name.len) ?
			       "a parameter has no type here: write {name}, and read it into a "
			       "variable of the type" :
			       "a parameter's name may only have letters, digits, _ and -";
	for (size_t i = 0; i < pattern->name_count; i++)
		if (eddy_str_eq(pattern->names[i], name))
			return "two parameters have the same name";
	if (pattern->name_count == EDDYI_PATTERN_PARAMS_MAX)
		return "more than 32 parameters";
	pattern->names[pattern->name_count++] = name;
	return NULL;
}

/* Add one segment. Return: what is wrong with it; NULL: nothing. */
static const char *add_segment(struct eddyi_arena *arena, struct eddyi_pattern *pattern,
			       struct eddy_str raw, struct eddy_str decoded)
{
	const char *foreign = find_foreign(arena, raw);
	struct eddy_str inner;

	if (pattern->has_rest)
		return "{name...} must be the last segment";
	if (foreign)
		return foreign;
	if (raw.len && memchr(raw.ptr, '?', raw.len))
		return "a pattern has no query: read it by eddy_req_query_into()";
	if (raw.len && memchr(raw.ptr, '#', raw.len))
		return "a pattern has no fragment, which clients never send; a literal # is %23";
	if (pattern->count == EDDYI_PATTERN_SEGMENTS_MAX)
		return "more than 64 segments";
	if (eddy_str_eq_z(decoded, ".") || eddy_str_eq_z(decoded, ".."))
		return "a pattern can't have the segments . and .., which are removed from request "
		       "paths";
	if (!raw.len || (!memchr(raw.ptr, '{', raw.len) && !memchr(raw.ptr, '}', raw.len))) {
		pattern->segments[pattern->count++] = decoded;
		return NULL;
	}
	if (raw.ptr[0] != '{' || raw.ptr[raw.len - 1] != '}' || raw.len < 2)
		return "a parameter must be a whole segment, /{name}/: check and cut off the rest "
		       "of it in the handler";
	inner = eddy_str(raw.ptr + 1, raw.len - 2);
	if (inner.len >= 3 && memcmp(inner.ptr + inner.len - 3, "...", 3) == 0) {
		inner.len -= 3;
		pattern->has_rest = true;
	} else {
		pattern->is_param[pattern->count++] = true;
	}
	return add_name(pattern, inner);
}

int eddyi_pattern_parse(struct eddyi_arena *arena, struct eddy_str text,
			struct eddyi_pattern *ret_pattern, const char **ret_reason)
{
	struct eddyi_path path;
	struct eddy_str rest, raw;
	const char *reason;
	int err;

	*ret_reason = "a pattern begins with /";
	if (!text.len || text.ptr[0] != '/')
		return -EINVAL;
	*ret_reason = "an escape is %XX with two hexadecimal digits, and not %00";
	err = eddyi_path_split(arena, text, &path);
	if (err < 0)
		return err;
	rest = eddy_str_skip(text, 1);
	for (size_t i = 0; i < path.count; i++) {
		eddy_str_split(&rest, '/', &raw);
		reason = add_segment(arena, ret_pattern, raw, path.segments[i]);
		if (reason) {
			*ret_reason = reason;
			return -EINVAL;
		}
	}
	return 0;
}

/* The routes of one pattern. */
struct endpoint {
	unsigned methods; /* with HEAD for GET */
	struct eddyi_route *routes[EDDYI_METHOD_COUNT];
};

/* One segment of the patterns that pass through it.
 *  1. There is one way from the root to each node, so a lookup meets no node twice: the work is
 *     bounded by the nodes of the tree, whatever the path.
 *  2. `slots` is a hash table with open addressing; its size is a power of two, and it is at most
 *     half full, so a level costs one probe. A bytewise radix tree would compare the same bytes in
 *     more steps. It contains only the program's patterns, so a client can't provoke collisions.
 *  3. A segment longer than `longest` matches no child and is not hashed. */
struct node {
	struct eddy_str text; /* of a static segment */
	uint32_t hash;
	struct node **slots;
	size_t slot_count;
	size_t child_count;
	size_t longest;
	struct node *param;   /* {name} */
	struct endpoint here; /* patterns that end with this segment */
	struct endpoint rest; /* patterns that continue with {name...} */
	void *beneath;        /* value of a prefix that ends here */
};

struct eddyi_router {
	struct eddyi_arena arena; /* nodes, texts and routes; slots are on the heap */
	struct node root;
	unsigned methods;
};

/* FNV-1a. */
static uint32_t hash_of(struct eddy_str text)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static struct node *child_find(const struct node *node, struct eddy_str text)
{
	uint32_t hash;

	if (!node->child_count || text.len > node->longest)
		return NULL;
	hash = hash_of(text);
	for (size_t i = hash;; i++) {
		struct node *child = node->slots[i & (node->slot_count - 1)];

		if (!child || (child->hash == hash && eddy_str_eq(child->text, text)))
			return child;
	}
}

static void child_place(struct node *node, struct node *child)
{
	size_t i = child->hash;

	while (node->slots[i & (node->slot_count - 1)])
		i++;
	node->slots[i & (node->slot_count - 1)] = child;
}

static int children_grow(struct node *node)
{
	size_t old_count = node->slot_count;
	struct node **old = node->slots;
	struct node **slots = calloc(old_count ? 2 * old_count : 4, sizeof(struct node *));

	if (!slots)
		return -ENOMEM;
	node->slots = slots;
	node->slot_count = old_count ? 2 * old_count : 4;
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			child_place(node, old[i]);
	free(old);
	return 0;
}

static struct node *node_new(struct eddyi_router *router)
{
	struct node *node = eddyi_arena_alloc(&router->arena, sizeof(*node));

	if (node)
		*node = (struct node){ 0 };
	return node;
}

static struct node *child_add(struct eddyi_router *router, struct node *node, struct eddy_str text)
{
	struct node *child = child_find(node, text);

	if (child)
		return child;
	if (2 * (node->child_count + 1) > node->slot_count && children_grow(node) < 0)
		return NULL;
	child = node_new(router);
	if (!child)
		return NULL;
	child->text = eddyi_arena_dup(&router->arena, text);
	if (!child->text.ptr)
		return NULL;
	child->hash = hash_of(text);
	child_place(node, child);
	node->child_count++;
	if (text.len > node->longest)
		node->longest = text.len;
	return child;
}

static void children_free(struct node *node)
{
	for (size_t i = 0; i < node->slot_count; i++)
		if (node->slots[i])
			children_free(node->slots[i]);
	if (node->param)
		children_free(node->param);
	free(node->slots);
}

struct eddyi_router *eddyi_router_new(void)
{
	return calloc(1, sizeof(struct eddyi_router));
}

void eddyi_router_free(struct eddyi_router *router)
{
	if (!router)
		return;
	children_free(&router->root);
	eddyi_arena_deinit(&router->arena);
	free(router);
}

static struct eddyi_route *route_new(struct eddyi_router *router,
				     const struct eddyi_pattern *pattern, struct eddy_str text)
{
	struct eddyi_route *route;

	route = eddyi_arena_alloc(&router->arena,
				  sizeof(*route) +
					  pattern->name_count * sizeof(route->param_names[0]));
	if (!route)
		return NULL;
	route->pattern = text;
	route->param_count = pattern->name_count;
	memcpy(route->param_names, pattern->names,
	       pattern->name_count * sizeof(route->param_names[0]));
	return route;
}

/* Find the node of a pattern, and create the nodes on the way.
 * Return: NULL on allocation failure. */
static struct node *node_make(struct eddyi_router *router, const struct eddyi_pattern *pattern)
{
	struct node *node = &router->root;

	for (size_t i = 0; i < pattern->count; i++) {
		if (!pattern->is_param[i]) {
			node = child_add(router, node, pattern->segments[i]);
		} else {
			if (!node->param)
				node->param = node_new(router);
			node = node->param;
		}
		if (!node)
			return NULL;
	}
	return node;
}

static struct endpoint *endpoint_make(struct eddyi_router *router,
				      const struct eddyi_pattern *pattern)
{
	struct node *node = node_make(router, pattern);

	if (!node)
		return NULL;
	return pattern->has_rest ? &node->rest : &node->here;
}

/* Name the route that a new one would replace. */
static const char *tell_taken(struct eddyi_router *router, const struct eddyi_route *other)
{
	char method[EDDYI_METHOD_SET_SIZE];
	const char *text;

	eddyi_method_format_set(EDDYI_METHOD_BIT(other->method), method);
	text = eddyi_arena_printf(
		       &router->arena,
		       "it conflicts with the route %s \"%.*s\": parameter names and a trailing "
		       "slash make no difference",
		       method, EDDY_FMT(other->pattern))
		       .ptr;
	return text ? text : "out of memory";
}

int eddyi_router_add(struct eddyi_router *router, enum eddyi_method method, struct eddy_str pattern,
		     void *value, const char **ret_reason)
{
	struct eddyi_pattern parsed = { 0 };
	struct endpoint *endpoint;
	struct eddyi_route *route;
	struct eddy_str text;
	int err;

	if ((unsigned)method >= EDDYI_METHOD_COUNT) {
		*ret_reason = "the method is unknown";
		return -EINVAL;
	}
	/* Parse the router's own copy, to which names and segments without escapes point. */
	text = eddyi_arena_dup(&router->arena, pattern);
	err = text.ptr ? eddyi_pattern_parse(&router->arena, text, &parsed, ret_reason) : -ENOMEM;
	if (err == -EINVAL)
		return err;
	endpoint = err ? NULL : endpoint_make(router, &parsed);
	route = endpoint ? route_new(router, &parsed, text) : NULL;
	if (!route) {
		*ret_reason = "out of memory";
		return -ENOMEM;
	}
	if (endpoint->routes[method]) {
		*ret_reason = tell_taken(router, endpoint->routes[method]);
		return -EEXIST;
	}
	route->value = value;
	route->method = method;
	endpoint->routes[method] = route;
	endpoint->methods |= EDDYI_METHOD_BIT(method);
	if (method == EDDYI_METHOD_GET)
		endpoint->methods |= EDDYI_METHOD_BIT(EDDYI_METHOD_HEAD);
	router->methods |= endpoint->methods;
	return 0;
}

int eddyi_router_add_prefix(struct eddyi_router *router, struct eddy_str prefix, void *value,
			    const char **ret_reason)
{
	struct eddyi_pattern parsed = { 0 };
	struct eddy_str text;
	struct node *node;
	int err = 0;

	text = eddyi_arena_dup(&router->arena, prefix);
	if (prefix.len)
		err = text.ptr ? eddyi_pattern_parse(&router->arena, text, &parsed, ret_reason) :
				 -ENOMEM;
	if (err == -EINVAL)
		return err;
	if (parsed.has_rest) {
		*ret_reason = "{name...} is not allowed in a group's prefix";
		return -EINVAL;
	}
	node = err ? NULL : node_make(router, &parsed);
	if (!node) {
		*ret_reason = "out of memory";
		return -ENOMEM;
	}
	if (!node->beneath)
		node->beneath = value;
	return 0;
}

struct search {
	const struct eddyi_path *path;
	enum eddyi_method method;
	struct eddyi_router_match *match;
	size_t param_count; /* on the way to the current node */
	size_t beneath_depth;
};

static bool endpoint_try(struct search *search, const struct endpoint *endpoint)
{
	const struct eddyi_route *route = NULL;

	if (!endpoint->methods)
		return false;
	if ((unsigned)search->method < EDDYI_METHOD_COUNT)
		route = endpoint->routes[search->method];
	if (!route && search->method == EDDYI_METHOD_HEAD)
		route = endpoint->routes[EDDYI_METHOD_GET];
	search->match->route = route;
	search->match->methods |= endpoint->methods;
	return route != NULL;
}

/* Match segments from `depth` on as one parameter: they are contiguous (path.h). */
static bool rest_try(struct search *search, const struct node *node, size_t depth)
{
	const struct eddyi_path *path = search->path;
	struct eddy_str value = EDDY_STR("");

	if (!node->rest.methods)
		return false;
	if (depth < path->count) {
		struct eddy_str last = path->segments[path->count - 1];

		value.ptr = path->segments[depth].ptr;
		value.len = last.ptr + last.len - value.ptr;
	}
	search->match->params[search->param_count] = value;
	return endpoint_try(search, &node->rest);
}

/* The recursion is limited by EDDYI_PATTERN_SEGMENTS_MAX small frames. */
static bool node_try(struct search *search, const struct node *node, size_t depth)
{
	const struct node *child;
	struct eddy_str segment;

	search->match->nodes_visited++;
	if (node->beneath && (!search->match->beneath || depth > search->beneath_depth)) {
		search->match->beneath = node->beneath;
		search->beneath_depth = depth;
	}
	if (depth == search->path->count)
		return endpoint_try(search, &node->here) || rest_try(search, node, depth);
	segment = search->path->segments[depth];
	child = child_find(node, segment);
	if (child && node_try(search, child, depth + 1))
		return true;
	if (node->param && segment.len) {
		search->match->params[search->param_count++] = segment;
		if (node_try(search, node->param, depth + 1))
			return true;
		search->param_count--;
	}
	return rest_try(search, node, depth);
}

void eddyi_router_find(const struct eddyi_router *router, enum eddyi_method method,
		       const struct eddyi_path *path, struct eddyi_router_match *ret_match)
{
	struct search search = { .path = path, .method = method, .match = ret_match };

	/* Don't clear `params`: half a kilobyte that is not read. */
	ret_match->route = NULL;
	ret_match->methods = 0;
	ret_match->beneath = NULL;
	ret_match->nodes_visited = 0;
	node_try(&search, &router->root, 0);
}

unsigned eddyi_router_methods(const struct eddyi_router *router)
{
	return router->methods;
}
