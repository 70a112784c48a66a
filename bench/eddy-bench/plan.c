#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The address that answers: a name may have several, and all connections are to go to one. */
static int find_address(struct plan *plan, char error[OPTIONS_ERROR_SIZE])
{
	int fd = eddy_dial(plan->url->dial,
			   &(struct eddy_dial_options){ .timeout_ns = plan->options->timeout_ns });

	if (fd < 0) {
		snprintf(error, OPTIONS_ERROR_SIZE, "%s: can't connect to %s: %s", plan->url->name,
			 plan->url->dial, eddy_net_strerror(fd));
		return fd;
	}
	plan->address.len = sizeof(plan->address.addr);
	getpeername(fd, &plan->address.addr.any, &plan->address.len);
	close(fd);
	/* A unix socket does not know TRUNC, and what is encrypted must be looked at. */
	plan->truncates = plan->address.addr.any.sa_family != AF_UNIX && !plan->secure;
	return 0;
}

int plan_init(struct plan *plan, const struct options *options, struct secure *secure,
	      const struct url *url, uint64_t size, const struct body *body,
	      char error[OPTIONS_ERROR_SIZE])
{
	char text[24] = "{size}";

	*plan = (struct plan){
		.options = options,
		.url = url,
		.secure = url->https ? secure : NULL,
		.body = body,
		.size = options->work == WORK_GET ? size : PLAN_SIZE_NONE,
		.depth = options->depth,
		.expect = (int)options->expect,
		.varies = url_has(url, "{i}"),
		.per_conn = url_has(url, "{n}"),
	};
	plan->method = options->work == WORK_PUT || options->stall == STALL_PUT ? "PUT" :
		       options->method                                          ? options->method :
										  "GET";
	/* What is said of an upload may be anything: it is read back. */
	plan->verify = options->verify && strcmp(plan->method, "PUT") != 0;
	if (options->digest) {
		digest_parse(options->digest, plan->expected.digest);
		plan->expected.known = true;
		plan->per_conn = false;
	}
	plan->no_body = strcmp(plan->method, "HEAD") == 0;
	if (size != PLAN_SIZE_NONE)
		url_size(size, text);
	if (!url_fill(url->path, "{size}", text, plan->path, sizeof(plan->path))) {
		snprintf(error, OPTIONS_ERROR_SIZE, "%s: its path is too long", url->name);
		return -EINVAL;
	}
	if (strstr(plan->path, "{size}")) {
		snprintf(error, OPTIONS_ERROR_SIZE, "%s: {size} needs --sizes", url->name);
		return -EINVAL;
	}
	return find_address(plan, error);
}

int plan_read_back(const struct plan *put, struct plan *ret_plan, char error[OPTIONS_ERROR_SIZE])
{
	struct plan plan = *put;
	int r = body_digest(put->body, plan.expected.digest);

	if (r < 0) {
		snprintf(error, OPTIONS_ERROR_SIZE, "--verify: %s", strerror(-r));
		return r;
	}
	plan.method = "GET";
	plan.size = put->body->size;
	plan.body = NULL;
	plan.expect = 0;
	plan.verify = true;
	plan.expected.known = true;
	plan.per_conn = false;
	*ret_plan = plan;
	return 0;
}

bool plan_path(struct plan *plan, unsigned number, char ret_path[URL_PATH_SIZE])
{
	char text[24], numbered[URL_PATH_SIZE];

	snprintf(text, sizeof(text), "%u", number);
	if (!url_fill(plan->path, "{n}", text, numbered, sizeof(numbered)))
		return false;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)plan->index++);
	if (plan->options->cycle)
		plan->index %= plan->options->cycle;
	return url_fill(numbered, "{i}", text, ret_path, URL_PATH_SIZE);
}

size_t plan_write(struct plan *plan, unsigned number, char *ret_head, size_t size)
{
	const struct options *options = plan->options;
	char path[URL_PATH_SIZE];
	int len, more;

	if (!plan_path(plan, number, path))
		return 0;
	len = snprintf(ret_head, size, "%s %s HTTP/1.1\r\nHost: %s\r\n", plan->method, path,
		       plan->url->host);
	for (size_t i = 0; i < options->header_count && (size_t)len < size; i++)
		len += snprintf(ret_head + len, size - (size_t)len, "%s\r\n", options->headers[i]);
	if ((size_t)len >= size)
		return 0;
	if (plan->body)
		more = snprintf(ret_head + len, size - (size_t)len, "Content-Length: %llu\r\n\r\n",
				(unsigned long long)plan->body->size);
	else
		more = snprintf(ret_head + len, size - (size_t)len, "\r\n");
	len += more;
	return (size_t)len < size ? (size_t)len : 0;
}
