/* tickets.h: the keys that encrypt session tickets (RFC 5077 section 4, RFC 8446 section 4.6.1).
 *
 * A ticket contains the state of a session and is stored by the client. An app has one set of keys
 * for all loops and certificates: a key encrypts for an hour and decrypts for two. A ticket is
 * valid only for the certificate that it was made under. The next process gets the keys in a memfd,
 * not in a file on disk. */
#ifndef EDDYI_TICKETS_H
#define EDDYI_TICKETS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct WOLFSSL_CTX;

#define EDDYI_TICKET_NAME_LEN 16
#define EDDYI_TICKET_IV_LEN 16
#define EDDYI_TICKET_MAC_LEN 32
#define EDDYI_FINGERPRINT_LEN 32 /* SHA-256 of a certificate */

struct eddyi_ticket_key {
	uint64_t made_s; /* by CLOCK_BOOTTIME; 0: no key */
	unsigned char name[EDDYI_TICKET_NAME_LEN];
	unsigned char secret[32];
};

/* A certificate that tickets are made under. */
struct eddyi_ticket_scope {
	struct eddyi_ticket_scope *next;
	struct eddyi_tickets *tickets;
	unsigned char fingerprint[EDDYI_FINGERPRINT_LEN];
};

struct eddyi_tickets {
	pthread_mutex_t lock; /* guards: */
	struct eddyi_ticket_key current, previous;
	struct eddyi_ticket_scope *scopes; /* one for each certificate so far */
};

/* A ticket in wolfSSL's format. */
struct eddyi_ticket {
	unsigned char *name, *iv, *mac; /* of the lengths above */
	unsigned char *bytes;           /* encrypted or decrypted in place */
	uint32_t len;
};

void eddyi_tickets_init(struct eddyi_tickets *tickets);

/* Wipe the keys. No session may use them. */
void eddyi_tickets_deinit(struct eddyi_tickets *tickets);

/* Enable tickets for the sessions of a context, under a certificate. The application data of each
 * session is its hello (struct eddyi_hello). Return: 0, -ENOMEM. */
int eddyi_tickets_use(struct eddyi_tickets *tickets, struct WOLFSSL_CTX *context,
		      const unsigned char fingerprint[EDDYI_FINGERPRINT_LEN]);

/* Encrypt a ticket. `now_s` is the time by CLOCK_BOOTTIME.
 * Return: 0; -EIO if getrandom(2) failed. */
int eddyi_tickets_seal(struct eddyi_ticket_scope *scope, const struct eddyi_ticket *ticket,
		       uint64_t now_s);

/* Decrypt a ticket. `ret_is_old`: its key no longer encrypts, so the client should get a new
 * ticket. Return: 0; -ENOKEY if the key is unknown or expired; -EBADMSG if the ticket was modified
 * or is for another certificate. */
int eddyi_tickets_open(struct eddyi_ticket_scope *scope, const struct eddyi_ticket *ticket,
		       uint64_t now_s, bool *ret_is_old);

/* Write the keys to a memfd. Return: its descriptor, -errno. */
int eddyi_tickets_save(struct eddyi_tickets *tickets);

/* Read the keys from such a memfd, and overwrite them there. Return: 0; -EBADMSG if it is of
 * another version; -EIO if the keys were read but not overwritten; -errno. */
int eddyi_tickets_load(struct eddyi_tickets *tickets, int fd);

#endif
