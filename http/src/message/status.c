#include "status.h"

#include <errno.h>

/* RFC 9110 section 15, RFC 2518, RFC 4918, RFC 6585, RFC 8297,
 * draft-ietf-httpbis-resumable-upload. */
const char *eddyi_status_phrase(int status)
{
	/* clang-format off */
	switch (status) {
	case 101: return "Switching Protocols";
	case 102: return "Processing";
	case 103: return "Early Hints";
	case 104: return "Upload Resumption Supported";
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
	case 400: return "the request is invalid";
	case 401: return "authentication is required";
	case 403: return "this is not allowed";
	case 404: return "no resource exists at this path";
	case 405: return "the method is not supported at this path; see the allow field";
	case 406: return "no representation of the resource is acceptable to the client";
	case 408: return "the request did not arrive in time";
	case 409: return "the request conflicts with the current state of the resource";
	case 410: return "the resource at this path was removed";
	case 411: return "a content-length is required";
	case 412: return "a precondition of the request is not met";
	case 413: return "the body exceeds the size limit";
	case 415: return "the type or encoding of the body is not supported";
	case 422: return "the body is well-formed, but its content is invalid";
	case 428: return "the request must be conditional, for example with if-match";
	case 429: return "too many requests; try again later";
	case 500: return "the server failed to handle the request";
	case 501: return "the server does not support this request";
	case 502: return "an upstream server failed";
	case 503: return "the server can't handle the request at the moment; try again later";
	case 504: return "an upstream server did not respond in time";
	case 507: return "there is not enough storage for the body";
	default: return status < 500 ? "the request can't be processed" : "the server can't "
									  "process the request";
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
	case ECONNABORTED:
		return 503;
	default:
		return 500;
	}
}
