/* tickets.h: the keys that session tickets are sealed with (RFC 5077 section 4, RFC 8446 section 4.6.1).
 *
 * The state of a session lies in its ticket, which the client keeps. An app has one set of keys for all of its loops and certificates:
 * a key seals for an hour and opens for two. A ticket is opened only for the certificate that it was made under. The keys
 * are passed to the process that takes over in a memfd, not in a file on disk.
 */
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
	uint64_t made_s; /* of the clock CLOCK_BOOTTIME; 0: there is none */
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
	struct eddyi_ticket_scope *scopes; /* each certificate once, for as long as this lives */
};

/* A ticket, as wolfSSL frames it. */
struct eddyi_ticket {
	unsigned char *name, *iv, *mac; /* of the lengths above */
	unsigned char *bytes;           /* sealed or opened in place */
	uint32_t len;
};

void eddyi_tickets_init(struct eddyi_tickets *tickets);

/* Wipe the keys. No session may use them any more. */
void eddyi_tickets_deinit(struct eddyi_tickets *tickets);

/* Let sessions of a context have tickets, for a certificate. The application data of each is its hello (struct eddyi_hello). Return: 0, -ENOMEM. */
int eddyi_tickets_use(struct eddyi_tickets *tickets, struct WOLFSSL_CTX *context,
		      const unsigned char fingerprint[EDDYI_FINGERPRINT_LEN]);

/* Seal a ticket. `now_s` is the time, as above. Return: 0; -EIO: getrandom(2) failed. */
int eddyi_tickets_seal(struct eddyi_ticket_scope *scope, const struct eddyi_ticket *ticket,
		       uint64_t now_s);

/* Open a ticket. `ret_is_old`: whether the key no longer seals, so that the client should get a new ticket. Return: 0; -ENOKEY:
 * unknown or expired key; -EBADMSG: modified, or sealed for another certificate. */
int eddyi_tickets_open(struct eddyi_ticket_scope *scope, const struct eddyi_ticket *ticket,
		       uint64_t now_s, bool *ret_is_old);

/* Put the keys into a file in memory. Return: its descriptor, -errno. */
int eddyi_tickets_save(struct eddyi_tickets *tickets);

/* Take the keys out of such a file, and overwrite them there. Return: 0; -EBADMSG: of another version; -EIO: taken, but not
 * overwritten; -errno. */
int eddyi_tickets_load(struct eddyi_tickets *tickets, int fd);

#endif
