#include "wolfssl.h"

#include "tickets.h"

#include "hello.h"

#include <eddy/internal/outside.h>
#include <eddy/base.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SEALS_S ((uint64_t)3600)
#define OPENS_S (2 * SEALS_S)

/* The content of the memfd for the next process. */
struct saved {
	char version[16];
	struct eddyi_ticket_key current, previous;
};

static const char version[16] = "eddy tickets 1";

_Static_assert(EDDYI_TICKET_NAME_LEN == WOLFSSL_TICKET_NAME_SZ &&
		       EDDYI_TICKET_IV_LEN == WOLFSSL_TICKET_IV_SZ &&
		       EDDYI_TICKET_MAC_LEN == WOLFSSL_TICKET_MAC_SZ,
	       "a ticket is framed as wolfSSL frames it");

void eddyi_tickets_init(struct eddyi_tickets *tickets)
{
	*tickets = (struct eddyi_tickets){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void eddyi_tickets_deinit(struct eddyi_tickets *tickets)
{
	while (tickets->scopes) {
		struct eddyi_ticket_scope *scope = tickets->scopes;

		tickets->scopes = scope->next;
		free(scope);
	}
	explicit_bzero(&tickets->current, sizeof(tickets->current));
	explicit_bzero(&tickets->previous, sizeof(tickets->previous));
	pthread_mutex_destroy(&tickets->lock);
}

/* ---- keys ---- */

static bool is_younger(const struct eddyi_ticket_key *key, uint64_t age_s, uint64_t now_s)
{
	return key->made_s && now_s >= key->made_s && now_s - key->made_s < age_s;
}

/* Wipe expired keys. The lock is held. */
static void expire(struct eddyi_tickets *tickets, uint64_t now_s)
{
	if (!is_younger(&tickets->previous, OPENS_S, now_s))
		explicit_bzero(&tickets->previous, sizeof(tickets->previous));
	if (is_younger(&tickets->current, SEALS_S, now_s))
		return;
	if (is_younger(&tickets->current, OPENS_S, now_s))
		tickets->previous = tickets->current;
	explicit_bzero(&tickets->current, sizeof(tickets->current));
}

/* The lock is held. Return: false if getrandom(2) failed. */
static bool make(struct eddyi_ticket_key *key, uint64_t now_s)
{
	if (eddyi_random(key->name, sizeof(key->name), 0) < 0 ||
	    eddyi_random(key->secret, sizeof(key->secret), 0) < 0)
		return false;
	key->made_s = now_s;
	return true;
}

/* Copy the key that encrypts now. The caller wipes the copy. */
static bool take_current(struct eddyi_tickets *tickets, uint64_t now_s,
			 struct eddyi_ticket_key *ret_key)
{
	bool ok;

	pthread_mutex_lock(&tickets->lock);
	expire(tickets, now_s);
	ok = tickets->current.made_s || make(&tickets->current, now_s);
	*ret_key = tickets->current;
	pthread_mutex_unlock(&tickets->lock);
	return ok;
}

static bool is_named(const struct eddyi_ticket_key *key, const unsigned char *name)
{
	return key->made_s && memcmp(key->name, name, sizeof(key->name)) == 0;
}

/* Copy the key of this name. The caller wipes the copy. */
static bool take_named(struct eddyi_tickets *tickets, const unsigned char *name, uint64_t now_s,
		       struct eddyi_ticket_key *ret_key, bool *ret_is_old)
{
	bool found = true;

	pthread_mutex_lock(&tickets->lock);
	expire(tickets, now_s);
	*ret_is_old = is_named(&tickets->previous, name);
	if (*ret_is_old)
		*ret_key = tickets->previous;
	else if (is_named(&tickets->current, name))
		*ret_key = tickets->current;
	else
		found = false;
	pthread_mutex_unlock(&tickets->lock);
	return found;
}

/* ---- tickets ---- */

/* Additional authenticated data. */
struct aad {
	unsigned char name[EDDYI_TICKET_NAME_LEN];
	unsigned char fingerprint[EDDYI_FINGERPRINT_LEN];
};

static struct aad aad_of(const struct eddyi_ticket_scope *scope, const struct eddyi_ticket *ticket)
{
	struct aad aad;

	memcpy(aad.name, ticket->name, sizeof(aad.name));
	memcpy(aad.fingerprint, scope->fingerprint, sizeof(aad.fingerprint));
	return aad;
}

int eddyi_tickets_seal(struct eddyi_ticket_scope *scope, const struct eddyi_ticket *ticket,
		       uint64_t now_s)
{
	struct eddyi_ticket_key key;
	struct aad aad;
	int r = -EIO;

	if (take_current(scope->tickets, now_s, &key) &&
	    eddyi_random(ticket->iv, EDDYI_TICKET_IV_LEN, 0) == 0) {
		memcpy(ticket->name, key.name, sizeof(key.name));
		memset(ticket->mac, 0, EDDYI_TICKET_MAC_LEN);
		aad = aad_of(scope, ticket);
		if (wc_ChaCha20Poly1305_Encrypt(key.secret, ticket->iv, (byte *)&aad, sizeof(aad),
						ticket->bytes, ticket->len, ticket->bytes,
						ticket->mac) == 0)
			r = 0;
	}
	explicit_bzero(&key, sizeof(key));
	return r;
}

int eddyi_tickets_open(struct eddyi_ticket_scope *scope, const struct eddyi_ticket *ticket,
		       uint64_t now_s, bool *ret_is_old)
{
	struct aad aad = aad_of(scope, ticket);
	struct eddyi_ticket_key key;
	int r;

	if (!take_named(scope->tickets, ticket->name, now_s, &key, ret_is_old))
		return -ENOKEY;
	r = wc_ChaCha20Poly1305_Decrypt(key.secret, ticket->iv, (byte *)&aad, sizeof(aad),
					ticket->bytes, ticket->len, ticket->mac, ticket->bytes);
	explicit_bzero(&key, sizeof(key));
	return r == 0 ? 0 : -EBADMSG;
}

/* ---- contexts ---- */

static uint64_t now_in_seconds(void)
{
	return eddyi_clock(CLOCK_BOOTTIME) / EDDY_SECOND + 1;
}

static int answer(WOLFSSL *session, unsigned char name[WOLFSSL_TICKET_NAME_SZ],
		  unsigned char iv[WOLFSSL_TICKET_IV_SZ], unsigned char mac[WOLFSSL_TICKET_MAC_SZ],
		  int seals, unsigned char *bytes, int len, int *ret_len, void *arg)
{
	const struct eddyi_hello *hello = wolfSSL_get_app_data(session);
	struct eddyi_ticket_scope *scope = arg;
	struct eddyi_ticket ticket = { name, iv, mac, bytes, (uint32_t)len };
	bool is_old;

	*ret_len = len;
	if (seals)
		return eddyi_tickets_seal(scope, &ticket, now_in_seconds()) == 0 ?
			       WOLFSSL_TICKET_RET_OK :
			       WOLFSSL_TICKET_RET_REJECT;
	/* wolfSSL would resume without a key exchange: the ticket key suffices to decrypt. */
	if (hello->only_psk || eddyi_tickets_open(scope, &ticket, now_in_seconds(), &is_old) < 0)
		return WOLFSSL_TICKET_RET_REJECT;
	/* TLS 1.3 always makes a new one. */
	return is_old && wolfSSL_version(session) == TLS1_2_VERSION ? WOLFSSL_TICKET_RET_CREATE :
								      WOLFSSL_TICKET_RET_OK;
}

/* Return: NULL on allocation failure. */
static struct eddyi_ticket_scope *find_scope(struct eddyi_tickets *tickets,
					     const unsigned char *fingerprint)
{
	struct eddyi_ticket_scope *scope = tickets->scopes;

	while (scope && memcmp(scope->fingerprint, fingerprint, sizeof(scope->fingerprint)) != 0)
		scope = scope->next;
	if (scope)
		return scope;
	scope = malloc(sizeof(*scope));
	if (!scope)
		return NULL;
	scope->next = tickets->scopes;
	scope->tickets = tickets;
	memcpy(scope->fingerprint, fingerprint, sizeof(scope->fingerprint));
	tickets->scopes = scope;
	return scope;
}

int eddyi_tickets_use(struct eddyi_tickets *tickets, struct WOLFSSL_CTX *context,
		      const unsigned char fingerprint[EDDYI_FINGERPRINT_LEN])
{
	struct eddyi_ticket_scope *scope;

	pthread_mutex_lock(&tickets->lock);
	scope = find_scope(tickets, fingerprint);
	pthread_mutex_unlock(&tickets->lock);
	if (!scope || wolfSSL_CTX_set_TicketEncCb(context, answer) != WOLFSSL_SUCCESS ||
	    wolfSSL_CTX_set_TicketEncCtx(context, scope) != WOLFSSL_SUCCESS ||
	    wolfSSL_CTX_set_TicketHint(context, SEALS_S) != WOLFSSL_SUCCESS)
		return -ENOMEM;
	wolfSSL_CTX_set_timeout(context, SEALS_S);
	return 0;
}

/* ---- the next process ---- */

int eddyi_tickets_save(struct eddyi_tickets *tickets)
{
	struct saved saved;
	int fd = eddyi_memfd_create_now("eddy-tickets", MFD_CLOEXEC);
	ssize_t written;

	if (fd < 0)
		return -errno;
	memcpy(saved.version, version, sizeof(version));
	pthread_mutex_lock(&tickets->lock);
	expire(tickets, now_in_seconds());
	saved.current = tickets->current;
	saved.previous = tickets->previous;
	pthread_mutex_unlock(&tickets->lock);
	written = eddyi_pwrite_now(fd, &saved, sizeof(saved), 0);
	explicit_bzero(&saved, sizeof(saved));
	if (written == sizeof(saved))
		return fd;
	eddyi_close_now(fd);
	return -ENOSPC;
}

int eddyi_tickets_load(struct eddyi_tickets *tickets, int fd)
{
	struct saved saved;
	ssize_t len = eddyi_pread_now(fd, &saved, sizeof(saved), 0);
	bool fits;

	if (len < 0)
		return -errno;
	fits = len == sizeof(saved) && memcmp(saved.version, version, sizeof(version)) == 0;
	if (fits) {
		pthread_mutex_lock(&tickets->lock);
		tickets->current = saved.current;
		tickets->previous = saved.previous;
		pthread_mutex_unlock(&tickets->lock);
	}
	explicit_bzero(&saved, sizeof(saved));
	if (!fits)
		return -EBADMSG;
	return eddyi_pwrite_now(fd, &saved, sizeof(saved), 0) == sizeof(saved) ? 0 : -EIO;
}
