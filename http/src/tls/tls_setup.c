#include "wolfssl.h"

#include "tls_setup.h"

#include "accelerated.h"
#include "hello.h"
#include "library.h"
#include "tickets.h"
#include "tls_credential.h"
#include "tls_points.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static char http1[] = "http/1.1", http2[] = "h2,http/1.1";

struct pair {
	const char *cert;
	const char *key; /* NULL: in `cert` */
};

/* What the files contained when last read. Replaced, never changed. */
struct credentials {
	size_t count;
	struct eddyi_tls_credential all[];
};

struct eddyi_tls_setup {
	struct eddy_tls_options options;
	struct eddyi_tickets tickets;
	struct pair *pairs; /* besides that of the options */
	size_t pair_count;
	bool http2;           /* clients may choose it */
	atomic_bool is_quick; /* of the credentials */
	pthread_mutex_t loading;
	pthread_mutex_t lock; /* guards: */
	struct credentials *credentials;
};

static pthread_once_t once = PTHREAD_ONCE_INIT, named = PTHREAD_ONCE_INIT;
static bool ready;

static void init_library(void)
{
	ready = wolfSSL_Init() == WOLFSSL_SUCCESS && eddyi_tls_points_init();
}

bool eddyi_tls_init(void)
{
	pthread_once(&once, init_library);
	return ready;
}

static void name_library(void)
{
	char text[256];

	const char *accelerator = eddyi_accelerator_name();

	eddy_info("eddy::tls", "TLS by wolfSSL %s%s%s", eddyi_tls_library(text, sizeof(text)),
		  accelerator ? "; AES-GCM, RSA and ECDSA by " : "",
		  accelerator ? accelerator : "");
}

struct eddyi_tls_setup *eddyi_tls_setup_new(const struct eddy_tls_options *options)
{
	struct eddyi_tls_setup *setup = eddyi_tls_init() ? calloc(1, sizeof(*setup)) : NULL;

	if (!setup)
		return NULL;
	setup->options = *options;
	eddyi_tickets_init(&setup->tickets);
	pthread_mutex_init(&setup->lock, NULL);
	pthread_mutex_init(&setup->loading, NULL);
	return setup;
}

void eddyi_tls_setup_offer_http2(struct eddyi_tls_setup *setup)
{
	setup->http2 = true;
}

struct eddy_tls_options *eddyi_tls_setup_options(struct eddyi_tls_setup *setup)
{
	return &setup->options;
}

int eddyi_tls_setup_add(struct eddyi_tls_setup *setup, const char *cert, const char *key)
{
	struct pair *pairs = realloc(setup->pairs, (setup->pair_count + 1) * sizeof(*setup->pairs));

	if (!pairs)
		return -ENOMEM;
	setup->pairs = pairs;
	pairs[setup->pair_count++] = (struct pair){ cert, key };
	return 0;
}

void eddyi_tls_setup_each_file(const struct eddyi_tls_setup *setup,
			       void (*fn)(const char *path, void *arg), void *arg)
{
	const char *const of_options[] = { setup->options.cert, setup->options.key,
					   setup->options.client_ca };

	for (size_t i = 0; i < sizeof(of_options) / sizeof(of_options[0]); i++)
		if (of_options[i])
			fn(of_options[i], arg);
	for (size_t i = 0; i < setup->pair_count; i++) {
		fn(setup->pairs[i].cert, arg);
		if (setup->pairs[i].key)
			fn(setup->pairs[i].key, arg);
	}
}

static void free_credentials(struct credentials *credentials)
{
	if (!credentials)
		return;
	for (size_t i = 0; i < credentials->count; i++)
		eddyi_tls_credential_deinit(&credentials->all[i]);
	free(credentials);
}

void eddyi_tls_setup_free(struct eddyi_tls_setup *setup)
{
	if (!setup)
		return;
	free(setup->pairs);
	free_credentials(setup->credentials);
	pthread_mutex_destroy(&setup->lock);
	pthread_mutex_destroy(&setup->loading);
	eddyi_tickets_deinit(&setup->tickets);
	free(setup);
}

static const char *mistake_in(const struct eddy_tls_options *options)
{
	bool asks = options->client_certs != EDDY_TLS_CLIENT_CERTS_NONE;

	if (!options->cert)
		return "`cert` is not set";
	if ((unsigned)options->min_version > EDDY_TLS_1_3)
		return "`min_version` is not a known TLS version";
	if ((unsigned)options->client_certs > EDDY_TLS_CLIENT_CERTS_REQUIRED)
		return "`client_certs` is not a known value";
	if (asks && !options->client_ca)
		return "`client_certs` requires `client_ca`";
	if (!asks && options->client_ca)
		return "`client_ca` is set, but `client_certs` requests no certificates";
	return NULL;
}

/* Return: false if a file is unusable, after a log record. */
static bool load_pair(struct credentials *credentials, struct eddyi_tls_setup *setup,
		      const struct pair *pair)
{
	struct eddyi_tls_credential *credential = &credentials->all[credentials->count];

	if (eddyi_tls_credential_init(credential, &setup->options, pair->cert, pair->key) < 0)
		return false;
	credentials->count++;
	/* A resumed session has no client certificate, so there are no tickets if one is
	 * requested. */
	if (setup->options.client_certs != EDDY_TLS_CLIENT_CERTS_NONE ||
	    eddyi_tickets_use(&setup->tickets, credential->context, credential->fingerprint) == 0)
		return true;
	eddy_error("eddy::tls", "can't set TLS up: out of memory");
	return false;
}

/* Return: NULL if a file is unusable, after a log record for each. */
static struct credentials *load_all(struct eddyi_tls_setup *setup)
{
	const struct eddy_tls_options *options = &setup->options;
	struct credentials *credentials = calloc(
		1, sizeof(*credentials) + (1 + setup->pair_count) * sizeof(credentials->all[0]));
	bool ok;

	if (!credentials) {
		eddy_error("eddy::tls", "can't set TLS up: out of memory");
		return NULL;
	}
	ok = load_pair(credentials, setup, &(struct pair){ options->cert, options->key });
	for (size_t i = 0; i < setup->pair_count; i++)
		ok &= load_pair(credentials, setup, &setup->pairs[i]);
	if (ok)
		return credentials;
	free_credentials(credentials);
	return NULL;
}

static bool are_quick(const struct credentials *credentials)
{
	for (size_t i = 0; i < credentials->count; i++)
		if (!credentials->all[i].is_quick)
			return false;
	return true;
}

int eddyi_tls_setup_load(void *arg)
{
	struct eddyi_tls_setup *setup = arg;
	const char *mistake = mistake_in(&setup->options);
	struct credentials *loaded, *old;

	if (mistake) {
		eddy_error("eddy::tls", "TLS can't be used: %s", mistake);
		return -EINVAL;
	}
	pthread_once(&named, name_library);
	/* Serialize, so that older files don't replace newer ones. */
	pthread_mutex_lock(&setup->loading);
	loaded = load_all(setup);
	if (loaded) {
		setup->is_quick = setup->options.client_certs == EDDY_TLS_CLIENT_CERTS_NONE &&
				  are_quick(loaded);
		pthread_mutex_lock(&setup->lock);
		old = setup->credentials;
		setup->credentials = loaded;
		pthread_mutex_unlock(&setup->lock);
		free_credentials(old);
	}
	pthread_mutex_unlock(&setup->loading);
	return loaded ? 0 : -EINVAL;
}

int eddyi_tls_setup_save_tickets(struct eddyi_tls_setup *setup)
{
	return eddyi_tickets_save(&setup->tickets);
}

int eddyi_tls_setup_load_tickets(struct eddyi_tls_setup *setup, int fd)
{
	return eddyi_tickets_load(&setup->tickets, fd);
}

bool eddyi_tls_setup_is_quick(const struct eddyi_tls_setup *setup)
{
	return setup->is_quick;
}

/* Rate a certificate for a client: a matching name counts more than a verifiable key. */
static unsigned value_of(const struct eddyi_tls_credential *credential,
			 const struct eddyi_hello *hello)
{
	return 2 * eddyi_tls_credential_fits(credential, eddy_str_from(hello->server_name)) +
	       ((credential->key & hello->keys) != 0);
}

/* Choose the first of the best certificates. Return: a context that the caller frees. */
static WOLFSSL_CTX *choose_context(struct eddyi_tls_setup *setup, const struct eddyi_hello *hello)
{
	const struct credentials *credentials;
	unsigned best = 0;
	WOLFSSL_CTX *context;

	pthread_mutex_lock(&setup->lock);
	credentials = setup->credentials;
	context = credentials->all[0].context;
	for (size_t i = 0; i < credentials->count; i++) {
		unsigned value = value_of(&credentials->all[i], hello);

		if (value > best)
			context = credentials->all[i].context;
		best = value > best ? value : best;
	}
	wolfSSL_CTX_up_ref(context);
	pthread_mutex_unlock(&setup->lock);
	return context;
}

struct WOLFSSL *eddyi_tls_setup_session(struct eddyi_tls_setup *setup,
					const struct eddyi_hello *hello)
{
	WOLFSSL_CTX *context = choose_context(setup, hello);
	WOLFSSL *session = wolfSSL_new(context);
	char *protocols;

	wolfSSL_CTX_free(context);
	if (!session)
		return NULL;
	wolfSSL_set_app_data(session, (void *)hello);
	if (hello->prefers_chacha &&
	    wolfSSL_set_cipher_list(session, eddyi_tls_ciphers_chacha()) != WOLFSSL_SUCCESS) {
		wolfSSL_free(session);
		return NULL;
	}
	protocols = setup->http2 ? http2 : http1;
	if (wolfSSL_UseALPN(session, protocols, (unsigned)strlen(protocols),
			    WOLFSSL_ALPN_FAILED_ON_MISMATCH) == WOLFSSL_SUCCESS)
		return session;
	wolfSSL_free(session);
	return NULL;
}
