/* Techniques to a socket through memory, copied or mapped; other techniques fall back to them. */
#include "transfer_state.h"

#include "core/loop.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

char *eddyi_copy_buffer(void)
{
	struct eddy_loop *loop = eddyi_loop();

	if (!loop->copy_buffer)
		loop->copy_buffer = malloc(EDDYI_COPY_SIZE);
	return loop->copy_buffer;
}

ssize_t eddyi_push_taken(struct eddyi_sending *sending, ssize_t r, size_t wanted, uint64_t *counter)
{
	if (r < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	/* Treat an interruption before any byte as a full socket: the poll then returns at once. */
	if (r < 0)
		r = 0;
	sending->full = (size_t)r < wanted;
	eddyi_count(*counter, (uint64_t)r);
	return r;
}

ssize_t eddyi_push_read(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	char *buf = eddyi_copy_buffer();
	ssize_t r;

	if (!buf)
		return -ENOMEM;
	do
		r = eddyi_pread_now(sending->transfer->file, buf,
				    len < EDDYI_COPY_SIZE ? len : EDDYI_COPY_SIZE, (off_t)offset);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r < 0 ? -errno : -ENODATA;
	len = (size_t)r;
	return eddyi_push_taken(sending,
				eddyi_send_now(sending->transfer->socket, buf, len,
					       MSG_DONTWAIT | MSG_NOSIGNAL),
				len, &eddyi_loop()->transfer_stats.read_sent_out);
}

int eddyi_map(int file, uint64_t offset, size_t len, struct eddyi_mapping *ret_mapping)
{
	size_t page = (size_t)eddyi_sysconf_now(_SC_PAGESIZE), before = (size_t)(offset % page);
	struct stat st;
	void *at;

	if (eddyi_fstat_now(file, &st) < 0)
		return -errno;
	if (offset >= (uint64_t)st.st_size)
		return -ENODATA;
	if (len > (uint64_t)st.st_size - offset)
		len = (size_t)((uint64_t)st.st_size - offset);
	at = mmap(NULL, before + len, PROT_READ, MAP_SHARED | MAP_POPULATE, file,
		  (off_t)(offset - before));
	if (at == MAP_FAILED)
		return -errno;
	*ret_mapping = (struct eddyi_mapping){ at, before + len, (char *)at + before, len };
	return 0;
}

ssize_t eddyi_push_mapped(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	struct eddyi_mapping mapping = { 0 };
	int error = eddyi_map(sending->transfer->file, offset, len, &mapping);
	ssize_t r;

	/* The file system does not support mmap. */
	if (error == -ENODEV)
		return eddyi_push_read(sending, offset, len);
	if (error < 0)
		return error;
	r = eddyi_send_now(sending->transfer->socket, mapping.bytes, mapping.len,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
	/* The file was truncated by whole pages after its length was read. */
	error = r < 0 && errno == EFAULT ? -ENODATA : 0;
	r = error ? error :
		    eddyi_push_taken(sending, r, mapping.len,
				     &eddyi_loop()->transfer_stats.mapped_out);
	munmap(mapping.at, mapping.size);
	return r;
}
