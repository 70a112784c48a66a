/* The programs that are linked into the static `eddy`, each with its main() renamed. */
#include "programs.h"

#include <nss.h>
#include <stdbool.h>
#ifndef EDDY_NO_LIBCRYPTO
#include <openssl/crypto.h>
#endif

int eddy_bench_main(int argc, char **argv);
int eddy_doctor_main(int argc, char **argv);
int eddy_doctor_tls_main(int argc, char **argv);
int eddy_get_main(int argc, char **argv);
int eddy_put_main(int argc, char **argv);
int eddy_replay_main(int argc, char **argv);
int eddy_serve_main(int argc, char **argv);

const struct eddyi_linked eddyi_linked[] = {
	{ "bench", eddy_bench_main },
	{ "doctor", eddy_doctor_main },
#ifndef EDDY_NO_TLS
	{ "doctor-tls", eddy_doctor_tls_main },
#endif
	{ "get", eddy_get_main },
	{ "put", eddy_put_main },
#ifdef EDDYI_RECORD
	{ "replay", eddy_replay_main },
#endif
	{ "serve", eddy_serve_main },
	{ NULL, NULL },
};

/* This program is recorded: its commands are in it. */
extern const bool eddyi_is_launcher;
const bool eddyi_is_launcher = false;

/* nsswitch.conf and openssl.cnf may name shared objects of the machine, which need its C library and
 * not the one that is linked in: host names come from /etc/hosts and DNS, ciphers from this program. */
__attribute__((constructor)) static void load_nothing(void)
{
	__nss_configure_lookup("hosts", "files dns");
#ifndef EDDY_NO_LIBCRYPTO
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
#endif
}
