#include "passed.h"

#include "app/app.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An index is a sum of these bits. */
enum { PLAIN = 1, PROXY_PROTOCOL = 2 };
const char *const eddyi_passed_prefixes[EDDYI_PASSED_PREFIXES] = {
	[0] = "",
	[PLAIN] = "plain ",
	[PROXY_PROTOCOL] = "proxy ",
	[PLAIN | PROXY_PROTOCOL] = "plain proxy ",
};

const char *eddyi_passed_prefix(const struct eddyi_address *address)
{
	return eddyi_passed_prefixes[(address->plain ? PLAIN : 0) |
				     (address->proxy_protocol ? PROXY_PROTOCOL : 0)];
}

int eddyi_passed_list_add(struct eddyi_passed_list *list, int fd, const char *prefix,
			  const char *name)
{
	struct eddyi_passed *all = realloc(list->all, (list->count + 1) * sizeof(*all));
	char *copy = NULL;

	if (all)
		list->all = all;
	if (!all || asprintf(&copy, "%s%s", prefix, name) < 0) {
		eddyi_close_now(fd);
		return -ENOMEM;
	}
	all[list->count++] = (struct eddyi_passed){ fd, copy };
	return 0;
}

void eddyi_passed_list_deinit(struct eddyi_passed_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		eddyi_close_now(list->all[i].fd);
		free(list->all[i].name);
	}
	free(list->all);
	*list = (struct eddyi_passed_list){ 0 };
}

int eddyi_passed_list_take(struct eddyi_passed_list *list, size_t at)
{
	int fd = list->all[at].fd;

	free(list->all[at].name);
	list->count--;
	memmove(&list->all[at], &list->all[at + 1], (list->count - at) * sizeof(*list->all));
	return fd;
}

char *eddyi_passed_list_names(const struct eddyi_passed_list *list)
{
	size_t size = 1;
	char *names, *out;

	for (size_t i = 0; i < list->count; i++)
		size += 3 * strlen(list->all[i].name) + 1;
	names = out = malloc(size);
	if (!names)
		return NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			*out++ = ':';
		for (const char *c = list->all[i].name; *c; c++) {
			if (*c == ':' || *c == '%')
				out = eddyi_percent_put(out, *c);
			else
				*out++ = *c;
		}
	}
	*out = 0;
	return names;
}

void eddyi_passed_unescape(char *name)
{
	char *out = name;

	for (; *name; name++) {
		if (strncmp(name, "%3A", 3) == 0 || strncmp(name, "%25", 3) == 0) {
			*out++ = name[1] == '3' ? ':' : '%';
			name += 2;
		} else {
			*out++ = *name;
		}
	}
	*out = 0;
}
