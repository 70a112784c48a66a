/* issuer_certs.h: an authority that nobody else trusts, and a certificate of its for 127.0.0.1, until 2120. */
#ifndef EDDY_TESTS_ISSUER_CERTS_H
#define EDDY_TESTS_ISSUER_CERTS_H

static const char authority_pem[] =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIBYDCCAQWgAwIBAgIBATAKBggqhkjOPQQDAjAeMRwwGgYDVQQDDBNlZGR5IHRl\n"
	"c3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAe\n"
	"MRwwGgYDVQQDDBNlZGR5IHRlc3QgYXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZI\n"
	"zj0DAQcDQgAEwe+RRLRRN7BYVjI0WGAcvuRa1hQ9rP5K/d2XX6X+E4Qy4HeNdb5R\n"
	"PHrpRXxs98mECdiTrFZTW4elWwINIeMNaKMyMDAwDwYDVR0TAQH/BAUwAwEB/zAd\n"
	"BgNVHQ4EFgQUm+f9bOsPokkyXuwK/zxKr+8UNokwCgYIKoZIzj0EAwIDSQAwRgIh\n"
	"AJRVVGZmfzNiPryi8wJHbZLSjoXqktpkpqGR3H1zw2o+AiEAvbAA0uEIL+XPelOs\n"
	"KdEfsVsdIMVjh/j5rohmHfZwBMw=\n"
	"-----END CERTIFICATE-----\n";

/* And its key. */
static const char issuer_pem[] =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIBiTCCAS6gAwIBAgIBAjAKBggqhkjOPQQDAjAeMRwwGgYDVQQDDBNlZGR5IHRl\n"
	"c3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAb\n"
	"MRkwFwYDVQQDDBBlZGR5IHRlc3QgaXNzdWVyMFkwEwYHKoZIzj0CAQYIKoZIzj0D\n"
	"AQcDQgAEOoDij3ThWxK4qDQQZZ9ba8abnyaqfiLsMusGlseib5vkn1c73AdsCVeF\n"
	"416GdoIigqYbPfwG0bnAPkxj1QNDiqNeMFwwDwYDVR0RBAgwBocEfwAAATAJBgNV\n"
	"HRMEAjAAMB0GA1UdDgQWBBRj//h+V+8GGOD30mnpsDdDu+XjOTAfBgNVHSMEGDAW\n"
	"gBSb5/1s6w+iSTJe7Ar/PEqv7xQ2iTAKBggqhkjOPQQDAgNJADBGAiEAhnJpgs/5\n"
	"qVTrzfdthKxdcv9a/jAPBGdeEpA2OQkzCZQCIQCaoIOg1j33pa7yfu7vUKrZ15Fn\n"
	"dyfR3tYhFm0iyvV1ag==\n"
	"-----END CERTIFICATE-----\n"
	"-----BEGIN PRIVATE KEY-----\n"
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgi8g2cFMcLh++MvpL\n"
	"ieyxetQlxcPZ87AuZuhMME42WU2hRANCAAQ6gOKPdOFbErioNBBln1trxpufJqp+\n"
	"Iuwy6waWx6Jvm+SfVzvcB2wJV4XjXoZ2giKCphs9/AbRucA+TGPVA0OK\n"
	"-----END PRIVATE KEY-----\n";

#endif
