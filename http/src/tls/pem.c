#include "pem.h"

#include <eddy/file.h>
#include <eddy/log.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (1 << 20)

void eddyi_pem_deinit(struct eddyi_pem *pem)
{
	if (pem->bytes)
		explicit_bzero(pem->bytes, pem->len);
	free(pem->bytes);
}

static const char *reason_of(int error)
{
	if (error == -EACCES)
		return "Permission denied; the user that runs the server must be able to read it";
	if (error == -EISDIR)
		return "it is not a file";
	if (error == -EFBIG)
		return "it is larger than 1 MiB";
	return strerror(-error);
}

int eddyi_pem_init(struct eddyi_pem *pem, const char *path, const char *what)
{
	char *bytes;
	ssize_t r = eddy_file_load(path, FILE_MAX, &bytes);

	*pem = (struct eddyi_pem){ .path = path };
	if (r < 0) {
		eddy_error("eddy::tls", "can't read the %s \"%s\": %s", what, path,
			   reason_of((int)r));
		return -EINVAL;
	}
	pem->bytes = (unsigned char *)bytes;
	pem->len = (size_t)r;
	return 0;
}

bool eddyi_pem_has(const struct eddyi_pem *pem, const char *text)
{
	return memmem(pem->bytes, pem->len, text, strlen(text)) != NULL;
}
