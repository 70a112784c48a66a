#include "status.h"

#include <errno.h>

/* RFC 9110 section 15, RFC 6585, RFC 4918. */
const char *eddyi_status_phrase(int status)
{
	/* clang-format off */
	switch (status) {
	case 200: return "OK";
	case 201: return "Created";
	case 202: return "Accepted";
	case 203: return "Non-Authoritative Information";
	case 204: return "No Content";
	case 205: return "Reset Content";
	case 206: return "Partial Content";
	case 207: return "Multi-Status";
	case 208: return "Already Reported";
	case 226: return "IM Used";
	case 300: return "Multiple Choices";
	case 301: return "Moved Permanently";
	case 302: return "Found";
	case 303: return "See Other";
	case 304: return "Not Modified";
	case 305: return "Use Proxy";
	case 307: return "Temporary Redirect";
	case 308: return "Permanent Redirect";
	case 400: return "Bad Request";
	case 401: return "Unauthorized";
	case 402: return "Payment Required";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 406: return "Not Acceptable";
	case 407: return "Proxy Authentication Required";
	case 408: return "Request Timeout";
	case 409: return "Conflict";
	case 410: return "Gone";
	case 411: return "Length Required";
	case 412: return "Precondition Failed";
	case 413: return "Content Too Large";
	case 414: return "URI Too Long";
	case 415: return "Unsupported Media Type";
	case 416: return "Range Not Satisfiable";
	case 417: return "Expectation Failed";
	case 421: return "Misdirected Request";
	case 422: return "Unprocessable Content";
	case 423: return "Locked";
	case 424: return "Failed Dependency";
	case 425: return "Too Early";
	case 426: return "Upgrade Required";
	case 428: return "Precondition Required";
	case 429: return "Too Many Requests";
	case 431: return "Request Header Fields Too Large";
	case 451: return "Unavailable For Legal Reasons";
	case EDDYI_STATUS_CLIENT_LEFT: return "Client Closed Request";
	case 500: return "Internal Server Error";
	case 501: return "Not Implemented";
	case 502: return "Bad Gateway";
	case 503: return "Service Unavailable";
	case 504: return "Gateway Timeout";
	case 505: return "HTTP Version Not Supported";
	case 506: return "Variant Also Negotiates";
	case 507: return "Insufficient Storage";
	case 508: return "Loop Detected";
	case 511: return "Network Authentication Required";
	default: return "Unknown";
	}
	/* clang-format on */
}

const char *eddyi_status_detail(int status)
{
	/* clang-format off */
	switch (status) {
	case 400: return "the request is not as it should be";
	case 401: return "who asks has to say who that is";
	case 403: return "this is not allowed";
	case 404: return "there is nothing at this path";
	case 405: return "the method is not one of those that the allow field names";
	case 406: return "there is nothing of the kind that the request accepts";
	case 408: return "the request did not arrive in time";
	case 409: return "the request contradicts what is there";
	case 410: return "what was at this path is gone";
	case 411: return "the length of the body has to be said";
	case 412: return "a condition of the request does not hold";
	case 413: return "the body is larger than what is accepted here";
	case 415: return "the body is not of a type that is accepted here";
	case 422: return "the body does not say what it should";
	case 428: return "the request has to be conditional";
	case 429: return "there were too many requests; ask again later";
	case 500: return "the server failed; the request may be as it should be";
	case 501: return "the server is not able to do this";
	case 502: return "a server behind this one failed";
	case 503: return "the server is not able to answer now; ask again later";
	case 504: return "a server behind this one did not answer in time";
	case 507: return "there is no room for what was sent";
	default: return status < 500 ? "the request can't be carried out" : "the server can't carry this out";
	}
	/* clang-format on */
}

/* -EPERM stays a 500: it is -1, which handlers return by mistake. */
int eddyi_status_of(int error)
{
	switch (-error) {
	case ENOENT:
	case ENOTDIR:
		return 404;
	case EACCES:
		return 403;
	case EEXIST:
		return 409;
	case EINVAL:
	case EBADMSG:
	case EILSEQ:
	case ERANGE:
		return 400;
	case EMSGSIZE:
	case EFBIG:
		return 413;
	case ENOSPC:
	case EDQUOT:
		return 507;
	case ETIMEDOUT:
		return 504;
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return 502;
	case EAGAIN:
	case EBUSY:
		return 503;
	default:
		return 500;
	}
}
