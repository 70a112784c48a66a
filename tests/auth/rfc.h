/* rfc.h: the examples of RFC 7515 appendix A, RFC 7638 section 3.1 and RFC 8037 appendix A, with the quotes of their JSON
 * written as '. */
#ifndef EDDY_TESTS_RFC_H
#define EDDY_TESTS_RFC_H

/* clang-format off */
#define RFC_RSA_N \
	"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEz" \
	"P1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf6" \
	"3kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5Zw" \
	"Kh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRW" \
	"yuXpoQ"
#define RFC_RSA_E \
	"AQAB"
#define RFC_RSA_D \
	"Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7Y" \
	"wVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3M" \
	"kqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1Zd" \
	"iYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRu" \
	"OopznQ"
#define RFC_RSA_P \
	"4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB" \
	"0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDw" \
	"GUc"
#define RFC_RSA_Q \
	"uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul" \
	"7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9R" \
	"Wdc"
#define RFC_RSA_DP \
	"BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz" \
	"-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAd" \
	"Yo0"
#define RFC_RSA_DQ \
	"h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3" \
	"Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIi" \
	"THU"
#define RFC_RSA_QI \
	"IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3" \
	"ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFku" \
	"Q3U"

/* Of section A.2. */
#define RFC_RSA_PUBLIC "'kty':'RSA','n':'" RFC_RSA_N "','e':'" RFC_RSA_E "'"
#define RFC_RSA_PRIVATE \
	RFC_RSA_PUBLIC ",'d':'" RFC_RSA_D "','p':'" RFC_RSA_P "','q':'" RFC_RSA_Q \
	"','dp':'" RFC_RSA_DP "','dq':'" RFC_RSA_DQ "','qi':'" RFC_RSA_QI "'"

/* Of A.3. */
#define RFC_P256_PUBLIC \
	"'kty':'EC','crv':'P-256','x':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'," \
	"'y':'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'"
#define RFC_P256_PRIVATE RFC_P256_PUBLIC ",'d':'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI'"

/* Of A.4. */
#define RFC_P521_PUBLIC \
	"'kty':'EC','crv':'P-521'," \
	"'x':'AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk'," \
	"'y':'ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2'"
#define RFC_P521_PRIVATE \
	RFC_P521_PUBLIC \
	",'d':'AY5pb7A0UFiB3RELSD64fTLOSV_jazdF7fLYyuTw8lOfRhWg6Y6rUrPAxerEzgdRhajnu0ferB0d53vM9mE15j2C'"

/* Of A.1. */
#define RFC_SECRET \
	"'kty':'oct','k':'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow'"

#define RFC_ED25519_PUBLIC "'kty':'OKP','crv':'Ed25519','x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'"
#define RFC_ED25519_PRIVATE RFC_ED25519_PUBLIC ",'d':'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A'"

#define RFC_PAYLOAD \
	"eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

static const struct {
	const char *key; /* public, or a secret */
	const char *alg;
	const char *text;
	const char *signature;
} rfc_signatures[] __attribute__((unused)) = {
	{ "{" RFC_SECRET "}", "HS256", "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." RFC_PAYLOAD,
	  "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" },
	{ "{" RFC_RSA_PUBLIC "}", "RS256", "eyJhbGciOiJSUzI1NiJ9." RFC_PAYLOAD,
	  "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujG"
	  "bds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K"
	  "0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6"
	  "LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw" },
	{ "{" RFC_P256_PUBLIC "}", "ES256", "eyJhbGciOiJFUzI1NiJ9." RFC_PAYLOAD,
	  "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q" },
	{ "{" RFC_P521_PUBLIC "}", "ES512", "eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA",
	  "AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgo"
	  "XD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn" },
	{ "{" RFC_ED25519_PUBLIC "}", "EdDSA",
	  "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
	  "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg" },
};

#define RFC_SIGNATURES (sizeof(rfc_signatures) / sizeof(rfc_signatures[0]))
/* clang-format on */

#endif
