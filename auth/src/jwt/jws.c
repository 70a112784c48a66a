#include "jws.h"

#include <errno.h>
#include <wolfssl/wolfcrypt/hmac.h>
#include <wolfssl/wolfcrypt/rsa.h>
#include <wolfssl/wolfcrypt/wolfmath.h>

static const struct eddyi_digest sha256 = { WC_HASH_TYPE_SHA256, 32, WC_SHA256, WC_MGF1SHA256, 1 };
static const struct eddyi_digest sha384 = { WC_HASH_TYPE_SHA384, 48, WC_SHA384, WC_MGF1SHA384, 2 };
static const struct eddyi_digest sha512 = { WC_HASH_TYPE_SHA512, 64, WC_SHA512, WC_MGF1SHA512, 3 };

static const struct {
	const char *name;
	const struct eddyi_digest *digest;
} algs[EDDY_JWS_ALGS] = {
	[EDDY_JWS_HS256] = { "HS256", &sha256 }, [EDDY_JWS_HS384] = { "HS384", &sha384 },
	[EDDY_JWS_HS512] = { "HS512", &sha512 }, [EDDY_JWS_RS256] = { "RS256", &sha256 },
	[EDDY_JWS_RS384] = { "RS384", &sha384 }, [EDDY_JWS_RS512] = { "RS512", &sha512 },
	[EDDY_JWS_PS256] = { "PS256", &sha256 }, [EDDY_JWS_PS384] = { "PS384", &sha384 },
	[EDDY_JWS_PS512] = { "PS512", &sha512 }, [EDDY_JWS_ES256] = { "ES256", &sha256 },
	[EDDY_JWS_ES384] = { "ES384", &sha384 }, [EDDY_JWS_ES512] = { "ES512", &sha512 },
	[EDDY_JWS_EDDSA] = { "EdDSA", NULL },
};

const char *eddy_jws_alg_name(enum eddy_jws_alg alg)
{
	return algs[alg].name;
}

int eddyi_jws_alg_find(struct eddy_str name, enum eddy_jws_alg *ret_alg)
{
	for (unsigned alg = 0; alg < EDDY_JWS_ALGS; alg++) {
		if (!eddy_str_eq_z(name, algs[alg].name))
			continue;
		*ret_alg = (enum eddy_jws_alg)alg;
		return 0;
	}
	return -ENOENT;
}

const struct eddyi_digest *eddyi_jws_digest(enum eddy_jws_alg alg)
{
	return algs[alg].digest;
}

int eddyi_wolfcrypt_error(int r, int error)
{
	switch (r) {
	case MEMORY_E:
	case MP_MEM:
	/* These fail only for lack of memory: numbers were checked before. */
	case MP_INIT_E:
	case MP_READ_E:
	case MP_EXPTMOD_E:
	case ASN_GETINT_E:
		return -ENOMEM;
	default:
		return r < 0 ? error : 0;
	}
}
