#include "flight.h"

#include "hello.h"
#include "reader.h"
#include "tls_points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_CHANGE 20
#define TYPE_HANDSHAKE 22
#define TYPE_DATA 23
#define RECORD_HEAD 5
#define CLIENT_HELLO 1
#define SERVER_HELLO 2
#define CERTIFICATE 11
#define SERVER_KEY_EXCHANGE 12
#define CERTIFICATE_VERIFY 15
#define CLIENT_KEY_EXCHANGE 16
#define EXTENSION_VERSIONS 43
#define EXTENSION_SHARES 51
#define RANDOM_LEN 32
#define CURVE_LEN 3 /* type and number */
#define TLS_1_3 0x0304
/* Alerts (RFC 8446 section 6). */
#define UNEXPECTED_MESSAGE 10
#define ILLEGAL_PARAMETER 47

void eddyi_flight_deinit(struct eddyi_flight *flight)
{
	free(flight->message);
	free(flight->suites);
}

/* Set the alert for an unexpected message. Return: `may`. */
static bool may_come(struct eddyi_flight *flight, bool may)
{
	if (!may)
		flight->alert = UNEXPECTED_MESSAGE;
	return may;
}

/* ---- a server's messages ---- */

int eddyi_flight_offer(struct eddyi_flight *flight, const unsigned char *record, size_t len)
{
	struct eddyi_reader hello = { record, len, false }, suites;

	eddyi_reader_take(&hello, RECORD_HEAD + sizeof(flight->head) + 2 + RANDOM_LEN);
	eddyi_reader_vector(&hello, 1); /* session id */
	suites = eddyi_reader_vector(&hello, 2);
	if (!suites.len)
		return -EBADMSG;
	flight->suites = malloc(suites.len);
	if (!flight->suites)
		return -ENOMEM;
	memcpy(flight->suites, suites.at, suites.len);
	flight->suites_len = (uint16_t)suites.len;
	return 0;
}

static bool is_offered(const struct eddyi_flight *flight, size_t suite)
{
	for (size_t i = 0; i + 1 < flight->suites_len; i += 2)
		if (((size_t)flight->suites[i] << 8 | flight->suites[i + 1]) == suite)
			return true;
	return false;
}

bool eddyi_flight_is_retry(const unsigned char random[RANDOM_LEN])
{
	static const unsigned char retry[RANDOM_LEN] = {
		0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
		0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
		0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
	};

	return !memcmp(random, retry, sizeof(retry));
}

struct extensions {
	bool is_1_3;
	bool has_share;
};

static bool read_extensions(struct eddyi_reader message, struct extensions *found)
{
	struct eddyi_reader all = eddyi_reader_vector(&message, 2);

	while (all.len) {
		size_t type = eddyi_reader_number(&all, 2);
		struct eddyi_reader one = eddyi_reader_vector(&all, 2);

		if (type == EXTENSION_VERSIONS) {
			found->is_1_3 = eddyi_reader_number(&one, 2) == TLS_1_3;
		} else if (type == EXTENSION_SHARES) {
			eddyi_reader_number(&one, 2);
			found->has_share = eddyi_reader_vector(&one, 2).len > 0;
		}
	}
	return !all.bad && !message.bad;
}

/* The suite must be an offered one (CVE-2024-5814). In TLS 1.3 there must be a share: without one
 * the keys could be guessed (CVE-2026-3230), or remain those of the ticket (CVE-2025-11935). */
static bool check_server_hello(struct eddyi_flight *flight, struct eddyi_reader message,
			       bool ends_record)
{
	struct extensions found = { 0 };
	struct eddyi_reader random;
	size_t suite;
	bool retries;

	eddyi_reader_take(&message, 2);
	random = eddyi_reader_take(&message, RANDOM_LEN);
	eddyi_reader_vector(&message, 1); /* session id */
	suite = eddyi_reader_number(&message, 2);
	eddyi_reader_take(&message, 1); /* compression */
	if (message.bad || (message.len && !read_extensions(message, &found)))
		return false;
	if (!is_offered(flight, suite) || (suite >> 8 == 0x13) != found.is_1_3)
		return false;
	retries = eddyi_flight_is_retry(random.at);
	if (!found.is_1_3)
		return !retries;
	flight->is_over = !retries;
	return may_come(flight, ends_record) && (retries || found.has_share);
}

/* ---- a client's messages ---- */

/* Check the order in TLS 1.2 without resumption; a second hello is for a HelloRetryRequest of 1.3.
 * wolfSSL before 5.9.0 checks an early CertificateVerify against zeros (CVE-2026-2645). */
static bool is_in_order(uint8_t last, uint8_t type, bool is_1_3)
{
	switch (type) {
	case CLIENT_HELLO:
		return !last || (last == CLIENT_HELLO && is_1_3);
	case CERTIFICATE:
		return last == CLIENT_HELLO && !is_1_3;
	case CLIENT_KEY_EXCHANGE:
		return (last == CLIENT_HELLO || last == CERTIFICATE) && !is_1_3;
	case CERTIFICATE_VERIFY:
		return last == CLIENT_KEY_EXCHANGE && !is_1_3;
	default:
		return false;
	}
}

/* Require SHA-256 or better. wolfSSL before 5.8.4 accepts any known digest (CVE-2025-12889). */
static bool check_verify(struct eddyi_reader message)
{
	size_t scheme = eddyi_reader_number(&message, 2), hash = scheme >> 8, key = scheme & 0xff;

	return (hash >= 4 && hash <= 6 && (key == 1 || key == 3)) ||
	       (scheme >= 0x0804 && scheme <= 0x080b);
}

/* ---- messages ---- */

static bool is_of_server(const struct eddyi_flight *flight)
{
	return flight->suites != NULL;
}

static bool is_checked(uint8_t type)
{
	return type == CLIENT_HELLO || type == SERVER_HELLO || type == SERVER_KEY_EXCHANGE ||
	       type == CLIENT_KEY_EXCHANGE || type == CERTIFICATE_VERIFY;
}

static bool begin_message(struct eddyi_flight *flight, bool is_1_3)
{
	const unsigned char *head = flight->head;
	uint32_t size = (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];

	if (!is_of_server(flight) && !may_come(flight, is_in_order(flight->last, head[0], is_1_3)))
		return false;
	flight->last = head[0];
	flight->size = (uint32_t)sizeof(flight->head) + size;
	flight->keeps = is_checked(head[0]);
	if (!flight->keeps)
		return true;
	if (size > EDDYI_HELLO_MAX)
		return false;
	flight->message = malloc(size ? size : 1);
	return flight->message != NULL;
}

static bool check_message(struct eddyi_flight *flight, bool ends_record)
{
	size_t len = flight->size - sizeof(flight->head);
	struct eddyi_reader message = { flight->message, len, false };
	struct eddyi_hello hello;

	switch (flight->head[0]) {
	case CLIENT_HELLO:
		/* What follows has other keys, or must wait for a response (CVE-2023-6937). */
		return may_come(flight, ends_record) &&
		       eddyi_hello_read(flight->message, len, &hello);
	case SERVER_HELLO:
		return is_of_server(flight) && check_server_hello(flight, message, ends_record);
	case SERVER_KEY_EXCHANGE:
		eddyi_reader_take(&message, CURVE_LEN);
		eddyi_reader_vector(&message, 1); /* point */
		return check_verify(message);
	case CERTIFICATE_VERIFY:
		return check_verify(message);
	default:
		return true;
	}
}

static bool end_message(struct eddyi_flight *flight, bool ends_record)
{
	size_t len = flight->size - sizeof(flight->head);
	bool allowed = !flight->keeps || (!eddyi_tls_points_has_weak(flight->message, len) &&
					  check_message(flight, ends_record));

	free(flight->message);
	flight->message = NULL;
	flight->len = flight->size = 0;
	return allowed;
}

/* Take a record's bytes of one message. */
static bool take_message(struct eddyi_flight *flight, struct eddyi_reader *record, bool is_1_3)
{
	size_t head = sizeof(flight->head), here;

	while (flight->len < head && record->len)
		flight->head[flight->len++] = (unsigned char)eddyi_reader_number(record, 1);
	if (flight->len < head)
		return true;
	if (!flight->size && !begin_message(flight, is_1_3))
		return false;
	here = flight->size - flight->len < record->len ? flight->size - flight->len : record->len;
	if (flight->keeps)
		memcpy(flight->message + flight->len - head, record->at, here);
	eddyi_reader_take(record, here);
	flight->len += (uint32_t)here;
	return flight->len < flight->size || end_message(flight, !record->len);
}

/* ---- records ---- */

static bool take_record(struct eddyi_flight *flight, struct eddyi_reader record, bool is_1_3)
{
	size_t type = eddyi_reader_number(&record, 1);

	eddyi_reader_take(&record, RECORD_HEAD - 1);
	if (type == TYPE_CHANGE || type == TYPE_DATA) {
		flight->is_over = type == TYPE_DATA || !is_1_3;
		/* Keys change only between messages. In TLS 1.2 a ChangeCipherSpec announces it. */
		return may_come(flight, !flight->len && (type == TYPE_CHANGE || is_1_3));
	}
	while (type == TYPE_HANDSHAKE && record.len && !flight->is_over)
		if (!take_message(flight, &record, is_1_3))
			return false;
	return true;
}

bool eddyi_flight_allows(struct eddyi_flight *flight, const unsigned char *record, size_t len,
			 bool is_1_3)
{
	if (!flight->is_over && !flight->alert &&
	    !take_record(flight, (struct eddyi_reader){ record, len, false }, is_1_3) &&
	    !flight->alert)
		flight->alert = ILLEGAL_PARAMETER;
	return !flight->alert;
}

bool eddyi_flight_has_verify(const struct eddyi_flight *flight)
{
	return flight->last == CERTIFICATE_VERIFY;
}
