#include "challenge.h"

#include <errno.h>

struct parameter {
	const char *name, *value;
};

/* The most bytes of a parameter: every byte of the value escaped, quotes, `=` and `, `. */
static size_t room_of(const struct parameter *parameter)
{
	return strlen(parameter->name) + 2 * strlen(parameter->value) + 5;
}

/* Write a quoted-string (RFC 9110 section 5.6.4). Return: its end. */
static char *put_quoted(char *at, const char *value)
{
	*at++ = '"';
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			*at++ = '\\';
		*at++ = *value;
	}
	*at++ = '"';
	return at;
}

int eddyi_challenge_set(const struct eddyi_challenge *challenge, struct eddy_req *req,
			struct eddy_res *res)
{
	const struct parameter parameters[] = {
		{ "realm", challenge->realm },
		{ "error", challenge->error },
		{ "error_description", challenge->description },
		{ "scope", challenge->scope },
		{ "resource_metadata", challenge->resource_metadata },
	};
	const size_t count = sizeof(parameters) / sizeof(parameters[0]);
	size_t room = strlen("Bearer ");
	char *text, *at;

	for (size_t i = 0; i < count; i++)
		if (parameters[i].value)
			room += room_of(&parameters[i]);
	text = eddy_req_alloc(req, room);
	if (!text)
		return -ENOMEM;
	at = mempcpy(text, "Bearer", 6);
	for (size_t i = 0; i < count; i++) {
		if (!parameters[i].value)
			continue;
		at = stpcpy(at, at == text + 6 ? " " : ", ");
		at = stpcpy(at, parameters[i].name);
		*at++ = '=';
		at = put_quoted(at, parameters[i].value);
	}
	return eddy_res_set(res, "www-authenticate", eddy_str(text, (size_t)(at - text)));
}
