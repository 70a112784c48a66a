/* Tests of eddy/jwt.h: what is a token and what is not, before any key is asked. */
#include "freed.h"
#include "tokens.h"

#include <ctype.h>
#include <errno.h>

#define NOT_JSON EDDY_JWT_MALFORMED

struct row {
	struct eddy_str json;
	int fault;
};

/* clang-format off */
static const struct row headers[] = {
	/* ---- alg ---- */
	{ STR("{\"alg\":\"RS256\"}"), 0 },
	{ STR("{\"alg\":\"RS384\"}"), 0 },
	{ STR("{\"alg\":\"RS512\"}"), 0 },
	{ STR("{\"alg\":\"PS256\"}"), 0 },
	{ STR("{\"alg\":\"PS384\"}"), 0 },
	{ STR("{\"alg\":\"PS512\"}"), 0 },
	{ STR("{\"alg\":\"ES256\"}"), 0 },
	{ STR("{\"alg\":\"ES384\"}"), 0 },
	{ STR("{\"alg\":\"ES512\"}"), 0 },
	{ STR("{\"alg\":\"EdDSA\"}"), 0 },
	{ STR("{\"alg\":\"HS256\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"HS384\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"HS512\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"none\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"None\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"NONE\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"nOnE\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"rs256\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"Rs256\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"RS256 \"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\" RS256\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"RS25\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"RS2560\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"RS1\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"ES521\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"ES256K\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"EDDSA\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"RS256,none\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"RSA-OAEP\",\"enc\":\"A128GCM\"}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"dir\",\"enc\":\"A128GCM\"}"), EDDY_JWT_ALG },
	{ STR("{\"\\u0061lg\":\"RS256\"}"), 0 },
	{ STR("{\"alg\":\"R\\u0053256\"}"), 0 },
	{ STR("{}"), EDDY_JWT_MALFORMED },
	{ STR("{\"Alg\":\"RS256\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"typ\":\"JWT\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":null}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":256}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":true}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":[\"RS256\"]}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":{\"RS256\":1}}"), EDDY_JWT_MALFORMED },

	/* ---- typ ---- */
	{ STR("{\"alg\":\"RS256\",\"typ\":\"JWT\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"jwt\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"JwT\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"at+jwt\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"AT+JWT\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"application/jwt\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"Application/JWT\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"application/at+jwt\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"APPLICATION/AT+JWT\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"JOSE\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"JWS\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"JWT \"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\" JWT\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"JW\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"logout+jwt\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"dpop+jwt\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"application/\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"application\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"application/application/jwt\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"text/jwt\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":\"application/jwt; a=b\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":null}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":1}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":true}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":[\"JWT\"]}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"typ\":{}}"), EDDY_JWT_MALFORMED },

	/* ---- kid ---- */
	{ STR("{\"alg\":\"RS256\",\"kid\":\"\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"kid\":\"../../../dev/null\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"kid\":null}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"kid\":1}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"kid\":1.5}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"kid\":false}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"kid\":[\"a\"]}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"kid\":{\"a\":1}}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"kid\":\"a\\u0000b\"}"), NOT_JSON },

	/* ---- crit, and b64, which goes with it ---- */
	{ STR("{\"alg\":\"RS256\",\"crit\":[]}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":[\"exp\"]}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":[\"exp\"],\"exp\":1}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":[\"alg\"]}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":[\"b64\"],\"b64\":false}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":[\"b64\"],\"b64\":true}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":\"b64\"}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":null}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":1}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":true}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":{}}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"crit\":[1]}"), EDDY_JWT_CRITICAL },
	{ STR("{\"alg\":\"RS256\",\"b64\":true}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"b64\":false}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"b64\":null}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"b64\":\"true\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\",\"b64\":0}"), EDDY_JWT_MALFORMED },

	/* ---- which comes first ---- */
	{ STR("{\"alg\":\"none\",\"typ\":\"JWS\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"none\",\"kid\":1}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"none\",\"crit\":[\"b64\"]}"), EDDY_JWT_ALG },
	{ STR("{\"alg\":\"none\",\"b64\":false}"), EDDY_JWT_ALG },
	{ STR("{\"typ\":\"JWT\",\"crit\":[\"b64\"]}"), EDDY_JWT_MALFORMED },

	/* ---- nothing to us ---- */
	{ STR("{\"alg\":\"RS256\",\"zip\":\"DEF\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"cty\":\"JWT\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"jku\":\"https://evil.example/keys\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"x5u\":\"https://evil.example/cert\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"x5c\":[\"AAAA\"],\"x5t\":\"AA\",\"x5t#S256\":\"AA\"}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"jwk\":{\"kty\":\"oct\",\"k\":\"AAAA\"}}"), 0 },
	{ STR("{\"alg\":\"RS256\",\"enc\":\"A128GCM\"}"), 0 },
};

/* Headers or claims alike; % is where a member may stand. */
static const struct row objects[] = {
	{ STR("{%}"), 0 },
	{ STR(" \t\r\n{%} \t\r\n"), 0 },
	{ STR("{%,\"a\":\"\\ud834\\udd1e\"}"), 0 },
	{ STR("{%,\"a\":\"\xf0\x9d\x84\x9e\"}"), 0 },
	{ STR("{%,\"a\":9223372036854775807}"), 0 },
	{ STR("{%,\"a\":-9223372036854775808}"), 0 },
	{ STR("{%,\"a\":1e308}"), 0 },
	{ STR("{%,\"a\":1e-999}"), 0 },
	{ STR("{%,\"a\":[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]}"), 0 },
	{ STR("{%,\"a\":\"{[{[{[{[{[{[{[{[{[{[{[{[\"}"), 0 },
	{ STR("{%,\"\":1}"), 0 },
	{ STR("{%,\"a\":{\"b\":1},\"c\":{\"b\":1}}"), 0 },
	{ STR(""), NOT_JSON },
	{ STR(" "), NOT_JSON },
	{ STR("{"), NOT_JSON },
	{ STR("}"), NOT_JSON },
	{ STR("{%"), NOT_JSON },
	{ STR("%}"), NOT_JSON },
	{ STR("{%}}"), NOT_JSON },
	{ STR("{{%}}"), NOT_JSON },
	{ STR("[{%}]"), NOT_JSON },
	{ STR("{%},"), NOT_JSON },
	{ STR("{%}x"), NOT_JSON },
	{ STR("{%}{%}"), NOT_JSON },
	{ STR("{%}\0"), NOT_JSON },
	{ STR("{%}\0{}"), NOT_JSON },
	{ STR("\0{%}"), NOT_JSON },
	{ STR("{\0%}"), NOT_JSON },
	{ STR("{%,\"a\":1\0}"), NOT_JSON },
	{ STR("{%,\"a\":1\0,\"b\":2}"), NOT_JSON },
	{ STR("{%,\"a\":1.5\0}"), NOT_JSON },
	{ STR("{%,\"a\":t\0rue}"), NOT_JSON },
	{ STR("{%,}"), NOT_JSON },
	{ STR("{,%}"), NOT_JSON },
	{ STR("{%;}"), NOT_JSON },
	{ STR("{%/**/}"), NOT_JSON },
	{ STR("{%}//"), NOT_JSON },
	{ STR("{%,'a':1}"), NOT_JSON },
	{ STR("{%,a:1}"), NOT_JSON },
	{ STR("{%,1:1}"), NOT_JSON },
	{ STR("{%,\"a\"}"), NOT_JSON },
	{ STR("{%,\"a\":}"), NOT_JSON },
	{ STR("{%,\"a\"=1}"), NOT_JSON },
	{ STR("{%,\"a\":undefined}"), NOT_JSON },
	{ STR("{%,\"a\":True}"), NOT_JSON },
	{ STR("[]"), NOT_JSON },
	{ STR("null"), NOT_JSON },
	{ STR("true"), NOT_JSON },
	{ STR("1"), NOT_JSON },
	{ STR("\"{}\""), NOT_JSON },
	{ STR("%"), NOT_JSON },
	{ STR("RS256"), NOT_JSON },
	{ STR("<xml/>"), NOT_JSON },
	/* two members of one name */
	{ STR("{%,%}"), NOT_JSON },
	{ STR("{%,\"a\":1,\"a\":1}"), NOT_JSON },
	{ STR("{%,\"a\":1,\"\\u0061\":2}"), NOT_JSON },
	{ STR("{%,\"a\":{\"b\":1,\"b\":2}}"), NOT_JSON },
	{ STR("{%,\"a\":[{\"b\":1,\"b\":2}]}"), NOT_JSON },
	{ STR("{%,\"\":1,\"\":2}"), NOT_JSON },
	/* characters */
	{ STR("\xef\xbb\xbf{%}"), NOT_JSON },
	{ STR("\xff\xfe{\0}\0"), NOT_JSON },
	{ STR("\xfe\xff\0{\0}"), NOT_JSON },
	{ STR("{\0}\0"), NOT_JSON },
	{ STR("{%,\"a\":\"\\ud834\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\udd1e\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\udd1e\\ud834\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\ud834\\ud834\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\ud834x\"}"), NOT_JSON },
	{ STR("{%,\"\\ud800\":1}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\u0000\"}"), NOT_JSON },
	{ STR("{%,\"a\\u0000b\":1}"), NOT_JSON },
	{ STR("{%,\"a\":\"\0\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\n\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\t\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\x1f\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\x41\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\u12\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\u12g4\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\\"), NOT_JSON },
	{ STR("{%,\"a\":\"\xff\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\x80\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\xc0\xaf\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\xe0\x80\xaf\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\xed\xa0\x80\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\xf4\x90\x80\x80\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\xf8\x88\x80\x80\x80\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\xe2\x82\"}"), NOT_JSON },
	{ STR("{%,\"a\":\"\xe2\x82"), NOT_JSON },
	{ STR("{%,\"\xff\":1}"), NOT_JSON },
	/* numbers */
	{ STR("{%,\"a\":9223372036854775808}"), NOT_JSON },
	{ STR("{%,\"a\":-9223372036854775809}"), NOT_JSON },
	{ STR("{%,\"a\":99999999999999999999999999}"), NOT_JSON },
	{ STR("{%,\"a\":1e309}"), NOT_JSON },
	{ STR("{%,\"a\":-1e999}"), NOT_JSON },
	{ STR("{%,\"a\":1e99999999999999999999}"), NOT_JSON },
	{ STR("{%,\"a\":NaN}"), NOT_JSON },
	{ STR("{%,\"a\":Infinity}"), NOT_JSON },
	{ STR("{%,\"a\":-Infinity}"), NOT_JSON },
	{ STR("{%,\"a\":01}"), NOT_JSON },
	{ STR("{%,\"a\":+1}"), NOT_JSON },
	{ STR("{%,\"a\":-}"), NOT_JSON },
	{ STR("{%,\"a\":.5}"), NOT_JSON },
	{ STR("{%,\"a\":5.}"), NOT_JSON },
	{ STR("{%,\"a\":1e}"), NOT_JSON },
	{ STR("{%,\"a\":0x10}"), NOT_JSON },
	/* depth */
	{ STR("{%,\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}"), NOT_JSON },
	{ STR("{%,\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}"
	      "}}}}}}}}}}}}}}}}"), NOT_JSON },
};

#define H "eyJhbGciOiJSUzI1NiJ9"         /* {"alg":"RS256"} */
#define N "eyJhbGciOiJub25lIn0"          /* {"alg":"none"} */

/* Whole texts. */
static const struct row texts[] = {
	{ STR(H ".e30.AAAA"), 0 },
	{ STR(H ".e30.AA"), 0 },
	{ STR(H ".e30."), 0 },       /* it has three parts: a signature of no bytes is a bad one */
	{ STR(N ".e30."), EDDY_JWT_ALG },
	{ STR(N ".e30.AAAA"), EDDY_JWT_ALG },
	{ STR(""), EDDY_JWT_MALFORMED },
	{ STR("."), EDDY_JWT_MALFORMED },
	{ STR(".."), EDDY_JWT_MALFORMED },
	{ STR("..."), EDDY_JWT_MALFORMED },
	{ STR("...."), EDDY_JWT_MALFORMED },
	{ STR("e30"), EDDY_JWT_MALFORMED },
	{ STR(H), EDDY_JWT_MALFORMED },
	{ STR(H "."), EDDY_JWT_MALFORMED },
	{ STR(H ".e30"), EDDY_JWT_MALFORMED },
	{ STR(H ".."), EDDY_JWT_MALFORMED },
	{ STR(H "..AAAA"), EDDY_JWT_MALFORMED },
	{ STR(".e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(".e30."), EDDY_JWT_MALFORMED },
	{ STR("." H ".e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA."), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA.AAAA.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA.AAAA.AAAA.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H "..e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR("\0"), EDDY_JWT_MALFORMED },
	{ STR("\0.\0.\0"), EDDY_JWT_MALFORMED },
	/* what is no character of it, in each part */
	{ STR(" " H ".e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA "), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA\n"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA\r\n"), EDDY_JWT_MALFORMED },
	{ STR(H ". e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H " .e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA\0"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30\0.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H "\0.e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AA\0A"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AA=="), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAA="), EDDY_JWT_MALFORMED },
	{ STR(H ".e30=.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H "=.e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.===="), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AA+A"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AA/A"), EDDY_JWT_MALFORMED },
	{ STR(H ".eyJhIjoi+CJ9.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".eyJhIjoi/CJ9.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AA%3D"), EDDY_JWT_MALFORMED },
	{ STR(H "%2Ee30%2EAAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AA\xc3\xa4"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAA\xff"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA~"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAA,"), EDDY_JWT_MALFORMED },
	{ STR("\"" H ".e30.AAAA\""), EDDY_JWT_MALFORMED },
	{ STR("Bearer " H ".e30.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ":e30:AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H "\xe3\x80\x82" "e30\xe3\x80\x82" "AAAA"), EDDY_JWT_MALFORMED },
	{ STR("{\"payload\":\"e30\",\"protected\":\"" H "\",\"signature\":\"AAAA\"}"), EDDY_JWT_MALFORMED },
	{ STR("{\"alg\":\"RS256\"}.{}.AAAA"), EDDY_JWT_MALFORMED },
	/* one bit too many */
	{ STR(H ".e31.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AB"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAB"), EDDY_JWT_MALFORMED },
	{ STR("eyJhbGciOiJub25lIn1" ".e30.AAAA"), EDDY_JWT_MALFORMED },
	/* a character alone is no byte */
	{ STR(H ".e30.A"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30.AAAAA"), EDDY_JWT_MALFORMED },
	{ STR(H ".e30AA.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(H "A.e30.AAAA"), EDDY_JWT_MALFORMED },
	/* a token in a token: {"alg":"RS256","cty":"JWT"} and the base64url of H.e30.AAAA */
	{ STR("eyJhbGciOiJSUzI1NiIsImN0eSI6IkpXVCJ9.ZXlKaGJHY2lPaUpTVXpJMU5pSjkuZTMwLkFBQUE.AAAA"), EDDY_JWT_MALFORMED },
	{ STR("eyJhbGciOiJSUzI1NiIsImN0eSI6IkpXVCJ9." H ".e30.AAAA.AAAA"), EDDY_JWT_MALFORMED },
	/* what is malformed in the claims comes before the algorithm */
	{ STR(N "..AAAA"), EDDY_JWT_MALFORMED },
	{ STR(N ".W10.AAAA"), EDDY_JWT_MALFORMED },
	{ STR(N ".e30.AA=="), EDDY_JWT_MALFORMED },
};
/* clang-format on */

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

_Static_assert(COUNT(headers) + 2 * COUNT(objects) + COUNT(texts) >= 250, "many");

/* In memory of its own, which may be read up to its end and no further. */
static int parse(struct eddy_str text, unsigned algs)
{
	struct eddy_jwt *const nothing = (void *)0x1, *token = nothing;
	char *exact = malloc(text.len + !text.len);
	int r;

	memcpy(exact, text.ptr, text.len);
	r = eddy_jwt_parse(eddy_str(exact, text.len), algs, &token);
	free(exact);
	if (r == 0)
		eddy_jwt_unref(token);
	else
		cr_expect(token == nothing);
	return r;
}

static int parse_parts(struct eddy_str header, struct eddy_str claims)
{
	struct eddy_str text = token_of_strs(header, claims, eddy_str_from("sig"));
	int r = parse(text, EDDY_JWS_PUBLIC);

	free((char *)text.ptr);
	return r;
}

Test(jwt, takes_no_odd_header)
{
	for (size_t i = 0; i < COUNT(headers); i++)
		cr_expect_eq(parse_parts(headers[i].json, eddy_str_from("{}")), headers[i].fault,
			     "%.*s", EDDY_FMT(headers[i].json));
}

/* Return: the text with `member` wherever a % is; to be freed. */
static struct eddy_str filled(struct eddy_str text, const char *member)
{
	size_t len = strlen(member), at = 0;
	char *to = malloc(text.len * (len + 1) + 1);

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] != '%') {
			to[at++] = text.ptr[i];
			continue;
		}
		memcpy(to + at, member, len);
		at += len;
	}
	return eddy_str(to, at);
}

Test(jwt, takes_no_odd_json)
{
	for (size_t i = 0; i < COUNT(objects); i++) {
		struct eddy_str header = filled(objects[i].json, "\"alg\":\"RS256\"");
		struct eddy_str claims = filled(objects[i].json, "\"sub\":\"joe\"");

		cr_expect_eq(parse_parts(header, eddy_str_from("{}")), objects[i].fault,
			     "header %.*s", EDDY_FMT(header));
		cr_expect_eq(parse_parts(eddy_str_from("{\"alg\":\"RS256\"}"), claims),
			     objects[i].fault, "claims %.*s", EDDY_FMT(claims));
		free((char *)header.ptr);
		free((char *)claims.ptr);
	}
}

Test(jwt, takes_no_odd_text)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		cr_expect_eq(parse(texts[i].json, EDDY_JWS_PUBLIC), texts[i].fault, "%.*s",
			     EDDY_FMT(texts[i].json));
	cr_expect_eq(eddy_jwt_parse(eddy_str(NULL, 0), EDDY_JWS_PUBLIC, NULL), EDDY_JWT_MALFORMED);
}

/* Each byte of a good token is made each other one: no dot and no character is left out or put in unseen. */
Test(jwt, takes_nothing_that_only_looks_like_it)
{
	static const char good[] = H ".eyJhIjoxfQ.AAAA";
	char text[sizeof(good)];

	for (size_t at = 0; at < sizeof(good) - 1; at++) {
		for (int c = 0; c < 256; c++) {
			bool is_known = c == '-' || c == '_' || (c < 128 && isalnum(c));

			memcpy(text, good, sizeof(good));
			text[at] = (char)c;
			if (is_known != (good[at] != '.') &&
			    parse(eddy_str(text, sizeof(good) - 1), EDDY_JWS_PUBLIC) !=
				    (c == good[at] ? 0 : EDDY_JWT_MALFORMED))
				cr_fail("%d at %zu", c, at);
		}
	}
}

Test(jwt, takes_the_algorithms_it_is_asked_for)
{
	for (unsigned alg = 0; alg < EDDY_JWS_ALGS; alg++) {
		struct eddy_str text;
		char header[64];

		snprintf(header, sizeof(header), "{\"alg\":\"%s\"}", eddy_jws_alg_name(alg));
		text = token_of(header, "{}");
		cr_expect_eq(parse(text, EDDY_JWS_BIT(alg)), 0, "%s", header);
		cr_expect_eq(parse(text, ~EDDY_JWS_BIT(alg)), EDDY_JWT_ALG, "%s", header);
		cr_expect_eq(parse(text, 0), EDDY_JWT_ALG, "%s", header);
		free((char *)text.ptr);
	}
}

/* A token of exactly `len` bytes, if there can be one: a claim is as long as it takes. */
static struct eddy_str token_of_len(size_t len)
{
	size_t claims_len = EDDYI_BASE64URL_DECODED(len - strlen(H) - strlen("..AAAA"));
	char *claims = malloc(claims_len + 1);
	struct eddy_str text;

	sprintf(claims, "{\"a\":\"%0*d\"}", (int)(claims_len - strlen("{\"a\":\"\"}")), 0);
	text = token_of("{\"alg\":\"RS256\"}", claims);
	free(claims);
	cr_assert_eq(text.len, len);
	return text;
}

Test(jwt, takes_8_kib_and_no_more)
{
	static const struct {
		size_t len;
		int fault;
	} rows[] = {
		{ 8190, 0 }, { 8192, 0 }, { 8193, EDDY_JWT_MALFORMED }, { 9216, EDDY_JWT_MALFORMED }
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct eddy_str text = token_of_len(rows[i].len);

		cr_expect_eq(parse(text, EDDY_JWS_PUBLIC), rows[i].fault, "%zu", text.len);
		free((char *)text.ptr);
	}
}

Test(jwt, says_what_it_has)
{
	struct eddy_str text = token_of("{\"alg\":\"ES384\",\"kid\":\"k1\",\"typ\":\"at+jwt\"}",
					"{\"sub\":\"joe\",\"n\":1,\"exp\":5}");
	struct eddy_jwt *token, *again;

	cr_assert_eq(eddy_jwt_parse(text, EDDY_JWS_PUBLIC, &token), 0);
	free((char *)text.ptr);
	cr_expect_eq(token->alg, EDDY_JWS_ES384);
	cr_expect(eddy_str_eq_z(token->kid, "k1"));
	cr_expect(eddy_str_eq_z(eddy_jwt_str(token, "sub"), "joe"));
	cr_expect_null(eddy_jwt_str(token, "n").ptr);
	cr_expect_null(eddy_jwt_str(token, "missing").ptr);
	cr_expect_eq(json_integer_value(json_object_get(eddy_jwt_claims(token), "n")), 1);
	again = eddy_jwt_ref(token);
	cr_expect_eq(again, token);
	eddy_jwt_unref(token);
	cr_expect(eddy_str_eq_z(again->kid, "k1"));
	eddy_jwt_unref(again);
	eddy_jwt_unref(NULL);
	cr_expect_null(eddy_jwt_ref(NULL));
}

/* Who finds it in memory could use it. */
Test(jwt, leaves_nothing_of_itself)
{
	struct eddy_str text = token_of_strs(eddy_str_from("{\"alg\":\"RS256\"}"),
					     eddy_str_from("{}"), eddy_str_from("the signature"));
	struct eddy_jwt *token = NULL;

	cr_assert_eq(eddy_jwt_parse(text, EDDY_JWS_PUBLIC, &token), 0);
	freed_watch(token, eddy_str_from("the signature"));
	eddy_jwt_unref(token);
	cr_expect_eq(freed_count, 1);
	cr_expect_not(freed_with_secret);
	freed_watch(NULL, eddy_str_from("the signature"));
	cr_expect_eq(eddy_jwt_parse(text, 0, &token), EDDY_JWT_ALG);
	cr_expect_geq(freed_count, 1);
	cr_expect_not(freed_with_secret);
	freed_watch(NULL, eddy_str(NULL, 0));
	free((char *)text.ptr);
}

Test(jwt, no_kid_is_no_empty_kid)
{
	struct eddy_str text = token_of("{\"alg\":\"RS256\",\"kid\":\"\"}", "{}");
	struct eddy_jwt *token = token_with("{}");

	cr_expect_null(token->kid.ptr);
	eddy_jwt_unref(token);
	cr_assert_eq(eddy_jwt_parse(text, EDDY_JWS_PUBLIC, &token), 0);
	cr_expect_not_null(token->kid.ptr);
	cr_expect_eq(token->kid.len, 0);
	eddy_jwt_unref(token);
	free((char *)text.ptr);
}

Test(jwt, says_its_faults_in_the_words_of_challenges)
{
	static const struct {
		enum eddy_jwt_fault fault;
		const char *text;
	} rows[] = {
		{ EDDY_JWT_MALFORMED, "malformed token" },
		{ EDDY_JWT_ALG, "algorithm not accepted" },
		{ EDDY_JWT_CRITICAL, "critical header not understood" },
		{ EDDY_JWT_KEY, "unknown key" },
		{ EDDY_JWT_SIGNATURE, "bad signature" },
		{ EDDY_JWT_MISSING, "claim missing" },
		{ EDDY_JWT_EXPIRED, "token expired" },
		{ EDDY_JWT_NOT_YET, "token not yet valid" },
		{ EDDY_JWT_ISSUER, "issuer not accepted" },
		{ EDDY_JWT_AUDIENCE, "audience not accepted" },
	};

	cr_expect_eq(COUNT(rows), EDDY_JWT_AUDIENCE);
	for (size_t i = 0; i < COUNT(rows); i++) {
		cr_expect_eq(rows[i].fault, i + 1);
		cr_expect_str_eq(eddy_jwt_fault_text(rows[i].fault), rows[i].text);
	}
}
