#include "entries.h"

#include "base/uapi.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void *pointer(uint64_t value)
{
	return (void *)(uintptr_t)value;
}

bool eddyi_entry_names_another(const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_ASYNC_CANCEL:
		return !(sqe->cancel_flags & (IORING_ASYNC_CANCEL_FD | IORING_ASYNC_CANCEL_ANY));
	case IORING_OP_POLL_REMOVE:
	case IORING_OP_TIMEOUT_REMOVE:
		return true;
	}
	return false;
}

static void issue_time(struct eddyi_track *track, uint64_t at)
{
	const struct __kernel_timespec *time = pointer(at);

	eddyi_issue(track, (uint64_t)time->tv_sec);
	eddyi_issue(track, (uint64_t)time->tv_nsec);
}

void eddyi_issue_message(struct eddyi_track *track, const struct msghdr *message)
{
	eddyi_issue_bytes(track, message->msg_name, message->msg_namelen);
	eddyi_issue_bytes(track, message->msg_control, message->msg_controllen);
	eddyi_issue_parts(track, message->msg_iov, message->msg_iovlen);
}

static size_t room_of(const struct iovec *parts, size_t count)
{
	size_t room = 0;

	for (size_t i = 0; i < count; i++)
		room += parts[i].iov_len;
	return room;
}

/* Issue what is behind an entry's pointers. */
static void issue_memory(struct eddyi_track *track, const struct io_uring_sqe *sqe)
{
	const struct msghdr *message = pointer(sqe->addr);

	switch (sqe->opcode) {
	case IORING_OP_WRITE:
	case IORING_OP_SEND:
	case IORING_OP_SEND_ZC:
		eddyi_issue_bytes(track, pointer(sqe->addr), sqe->len);
		break;
	case IORING_OP_READV:
		eddyi_issue(track, room_of(pointer(sqe->addr), sqe->len));
		break;
	case IORING_OP_WRITEV:
		eddyi_issue_parts(track, pointer(sqe->addr), sqe->len);
		break;
	case IORING_OP_RECVMSG:
		eddyi_issue(track, room_of(message->msg_iov, message->msg_iovlen));
		break;
	case IORING_OP_SENDMSG:
	case IORING_OP_SENDMSG_ZC:
		eddyi_issue_message(track, message);
		break;
	case IORING_OP_OPENAT2:
		eddyi_issue_text(track, pointer(sqe->addr));
		eddyi_issue_bytes(track, pointer(sqe->off), sqe->len);
		break;
	case IORING_OP_OPENAT:
	case IORING_OP_STATX:
	case IORING_OP_UNLINKAT:
	case IORING_OP_MKDIRAT:
	case IORING_OP_FGETXATTR:
		eddyi_issue_text(track, pointer(sqe->addr));
		break;
	case IORING_OP_RENAMEAT:
	case IORING_OP_LINKAT:
	case IORING_OP_SYMLINKAT:
		eddyi_issue_text(track, pointer(sqe->addr));
		eddyi_issue_text(track, pointer(sqe->off));
		break;
	case IORING_OP_GETXATTR:
		eddyi_issue_text(track, pointer(sqe->addr));
		eddyi_issue_text(track, pointer(sqe->addr3));
		break;
	case IORING_OP_SETXATTR:
		eddyi_issue_text(track, pointer(sqe->addr3));
		/* fallthrough */
	case IORING_OP_FSETXATTR:
		eddyi_issue_text(track, pointer(sqe->addr));
		eddyi_issue_bytes(track, pointer(sqe->off), sqe->len);
		break;
	case IORING_OP_CONNECT:
		eddyi_issue_bytes(track, pointer(sqe->addr), sqe->off);
		break;
	case IORING_OP_TIMEOUT:
	case IORING_OP_LINK_TIMEOUT:
		issue_time(track, sqe->addr);
		break;
	}
}

/* Whether the field of the offset is a number, and not a pointer. */
static bool has_offset(const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_READ:
	case IORING_OP_WRITE:
	case IORING_OP_READV:
	case IORING_OP_WRITEV:
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
	case IORING_OP_FSYNC:
	case IORING_OP_SYNC_FILE_RANGE:
	case IORING_OP_FALLOCATE:
	case IORING_OP_FADVISE:
	case IORING_OP_SOCKET:
	case EDDYI_OP_FTRUNCATE:
		return true;
	}
	return false;
}

void eddyi_issue_entry(struct eddyi_track *track, const struct io_uring_sqe *sqe, uint64_t target)
{
	eddyi_issue(track, sqe->opcode | (uint64_t)sqe->flags << 8 | (uint64_t)sqe->ioprio << 16);
	eddyi_issue(track, (uint32_t)sqe->fd);
	eddyi_issue(track, sqe->len);
	eddyi_issue(track, (uint32_t)sqe->rw_flags);
	if (has_offset(sqe))
		eddyi_issue(track, sqe->off);
	if (sqe->opcode == IORING_OP_SPLICE || sqe->opcode == IORING_OP_TEE) {
		eddyi_issue(track, (uint32_t)sqe->splice_fd_in);
		eddyi_issue(track, sqe->splice_off_in);
	}
	if (eddyi_entry_names_another(sqe))
		eddyi_issue(track, target);
	issue_memory(track, sqe);
}

/* Learn the parts of a message that was received. Its lengths of the name and of the control data are updated. */
static void learn_message(struct eddyi_track *track, struct msghdr *message, size_t len)
{
	size_t name = message->msg_namelen, control = message->msg_controllen;

	eddyi_learn_parts(track, message->msg_iov, message->msg_iovlen, len);
	message->msg_flags = (int)eddyi_learn(track, (unsigned)message->msg_flags);
	message->msg_namelen = (socklen_t)eddyi_learn(track, name);
	if (message->msg_name)
		eddyi_learn_bytes(track, message->msg_name, message->msg_namelen);
	message->msg_controllen = eddyi_learn(track, control);
	if (message->msg_control)
		eddyi_learn_bytes(track, message->msg_control, message->msg_controllen);
}

void eddyi_learn_completion(struct eddyi_track *track, const struct io_uring_sqe *sqe, int result,
			    void *picked)
{
	socklen_t *len = pointer(sqe->off);
	void *at = picked ? picked : pointer(sqe->addr);

	if (result < 0)
		return;
	switch (sqe->opcode) {
	case IORING_OP_READ:
	case IORING_OP_RECV:
		/* With MSG_TRUNC a receive counts bytes that it writes nowhere. */
		if (at)
			eddyi_learn_bytes(track, at,
					  picked ? (size_t)result : MIN((size_t)result, sqe->len));
		break;
	case IORING_OP_WRITE:
		if (eddyi_replays && (sqe->fd == STDOUT_FILENO || sqe->fd == STDERR_FILENO))
			eddyi_replay_print(sqe->fd, at, result);
		break;
	case IORING_OP_READV:
		eddyi_learn_parts(track, at, sqe->len, (size_t)result);
		break;
	case IORING_OP_RECVMSG:
		learn_message(track, at, (size_t)result);
		break;
	case IORING_OP_ACCEPT:
		if (!len || !at)
			break;
		*len = (socklen_t)eddyi_learn(track, *len);
		eddyi_learn_bytes(track, at, MIN(*len, sizeof(struct sockaddr_storage)));
		break;
	case IORING_OP_STATX:
		eddyi_learn_bytes(track, pointer(sqe->off), sizeof(struct statx));
		break;
	case IORING_OP_GETXATTR:
	case IORING_OP_FGETXATTR:
		if (sqe->len)
			eddyi_learn_bytes(track, pointer(sqe->off), (size_t)result);
		break;
	case EDDYI_OP_PIPE:
		eddyi_learn_bytes(track, at, 2 * sizeof(int));
		break;
	case EDDYI_OP_WAITID:
		if (sqe->off)
			eddyi_learn_bytes(track, pointer(sqe->off), sizeof(siginfo_t));
		break;
	}
}
