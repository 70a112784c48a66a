/* localhost.h: a certificate for localhost that is valid until 2126, signed by itself, and its key. */
#ifndef TEST_LOCALHOST_H
#define TEST_LOCALHOST_H

static const char localhost_pem[] =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIBlDCCATugAwIBAgIUDV15UNx0ZR+AxQUc4Ednj9Nr6o8wCgYIKoZIzj0EAwIw\n"
	"FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE1NTAxMVoYDzIxMjYxMDI5\n"
	"MTU1MDExWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO\n"
	"PQMBBwNCAATbK5KfstCyTBwohpzPNuiOxBGV+VXUjdsLyLghKYmDv3raTZhe5kl3\n"
	"gUXhIgKGL/XkrjxQoRPWjlS0i5nU5gRho2kwZzAdBgNVHQ4EFgQUJR2u70MUwjxZ\n"
	"6NrFtKhfjvTsTF8wHwYDVR0jBBgwFoAUJR2u70MUwjxZ6NrFtKhfjvTsTF8wDwYD\n"
	"VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID\n"
	"RwAwRAIgfc8oY+xJnkTJ06osXL4ZrF/RvPpJ1GbmEN6a8S4HwZ0CIBjglYwdYZ2w\n"
	"0uJbzL3Q7Pr6Xq/wfKFpix+ROweN2Gme\n"
	"-----END CERTIFICATE-----\n"
	"-----BEGIN PRIVATE KEY-----\n"
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgASfW6zTFgJDxSumS\n"
	"iiJ5pnOiIm3GG/RYkE2jZpZkxtmhRANCAATbK5KfstCyTBwohpzPNuiOxBGV+VXU\n"
	"jdsLyLghKYmDv3raTZhe5kl3gUXhIgKGL/XkrjxQoRPWjlS0i5nU5gRh\n"
	"-----END PRIVATE KEY-----\n";

#endif
