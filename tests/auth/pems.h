/* pems.h: keys that "openssl" wrote, in each form that PEM has for them. They sign nothing but what these tests do. */
#ifndef EDDY_TESTS_PEMS_H
#define EDDY_TESTS_PEMS_H

/* clang-format off */
static const char pem_rsa_pkcs8[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCJQJ1CwAvPtcnE\n"
	"7R8Q2nvkQ5QYNrMhXEQglzKaX6EVU7egvBXyFZk0A65+OQJiiFydbefZ7ygOhDuY\n"
	"zWbxZKOTHXo5yamvk8zWurfKGyryNQeYkvAnDrqC1LXYfDjEn5MvQ13O0dDToQdv\n"
	"q+sAohqKyi8EeR61rcHIMEAawAOktv1vqKE5sFz0nPESlier4qK8y4rS2DQm7mRM\n"
	"LYlBRjJQnZagyiI4XBB30rtW5sNjQDOdRjVsi2H9vPHFrWeqbgrRryJlYHFPNXjb\n"
	"kklgB/pzXJkmQvd3P9vyQ2QunF4XO8xzfUZv4Gkx9BaNrsiRopHBhG9PBXCjeN7J\n"
	"6SAoHfVnAgMBAAECggEAFLRmRMXbF51bxP+O79LrB5cuMFeSvtXqrQ6XTUm0b2wu\n"
	"nOpiq8ntpOFn9us7XIknjNQh5UgPlIkGwy6RI0Ru7JLGImY1LnhZrows4inRA7Ko\n"
	"5QTy12GAafC+nIa4uuiQ99CYxnSeT557abGB2kREmWqV8dMiT9PYvLiSowu+QPWP\n"
	"8w27WimJgxscV5vmhIwFUdqqnQgwYelCBkcb8+D/tikurnP1orReKhGwDWJe6Jfs\n"
	"9nE5tgoNNVcQJdg318b2/H1E7jXf6TZdQBjjDhRyzp4mcJY2fyoLzAFgTcWdj2SZ\n"
	"hqhyYVo6qhGPUMsaPfrh/il7XjW8tkIh3HiqOf5WwQKBgQC8TfhUVMvJjI8r/kiy\n"
	"cS4rDaJ3bdBSwmli5ucrkIZ2tq3KqSiBEWRo9Gs7F4vVFKDARMlUcobQtXRbg3tC\n"
	"L+bidX9wpg6/gVQLYvdES8bnj2O51m6qsneAXoR3Hv+EbRODCyopGyhSsjvrqumq\n"
	"quRuUcvfKU3b6mMVk4CfBn/4IQKBgQC6mDcc7pJTmnrVc6gPFPRPIw4iMCjgWHzt\n"
	"lv9FfPhdnjZGzV0lNGpEHGRQFQhsiMb1pSFSNKhKfFmaqbqtlFCn/Xm5VtctO0tV\n"
	"A9GMowXC7VagJSWsythaUMu8V140CSI2Wetjt4iJbXDabEixkOHs0vhjM+eMQ6iI\n"
	"4k6b+a6chwKBgDbdZOh1WHceDC0eRuIvFeuXamnvxg4G9RvK+Tn5PyRhr5tn1BRf\n"
	"E+l8pa2u+6AXBYtfv2VqhRtUc1WipowvVs9OutYAnDVyIiG7MR5mEcswPTdNYis8\n"
	"GpN9do0arApSmafJ3fviHMqTgd/1iWWfqzT1gjhAWZ4k2b/UnVo4U5rhAoGAcNJc\n"
	"cIfnvdkn8CwQL55R4g+mGhHYhV27m8Sy8IcRfTmOQ90kNrysjCZGmQ0+nLFO63Q+\n"
	"43+nSfJKE3QQxadp5Ukj8maJkHXLpMm8SDbB4wyyVf5f+0xi6Kj1pxmEgh4Lq6VO\n"
	"6Gouijm8BLV4drTNhe5B9WmK1YqLOsjrEvAzHb0CgYEAnpig6iBJgSxSF1mbVU+z\n"
	"ZUImqqL8D0/D30q8RwuIU3GTj7mWuzGMo48heX5D3YusgfOPYjkWtcu4uIjcEF52\n"
	"JvRJ5/i/MOOW1dUa9ZxzlGDuRCbKQCIC+47WTaWXR0PurqpWTeLOSFz2Szlz74r1\n"
	"OhaPKFKQ23YZUG5H3UBATQg=\n"
	"-----END PRIVATE KEY-----\n";

static const char pem_rsa_pkcs1[] __attribute__((unused)) =
	"-----BEGIN RSA PRIVATE KEY-----\n"
	"MIIEowIBAAKCAQEAiUCdQsALz7XJxO0fENp75EOUGDazIVxEIJcyml+hFVO3oLwV\n"
	"8hWZNAOufjkCYohcnW3n2e8oDoQ7mM1m8WSjkx16Ocmpr5PM1rq3yhsq8jUHmJLw\n"
	"Jw66gtS12Hw4xJ+TL0NdztHQ06EHb6vrAKIaisovBHketa3ByDBAGsADpLb9b6ih\n"
	"ObBc9JzxEpYnq+KivMuK0tg0Ju5kTC2JQUYyUJ2WoMoiOFwQd9K7VubDY0AznUY1\n"
	"bIth/bzxxa1nqm4K0a8iZWBxTzV425JJYAf6c1yZJkL3dz/b8kNkLpxeFzvMc31G\n"
	"b+BpMfQWja7IkaKRwYRvTwVwo3jeyekgKB31ZwIDAQABAoIBABS0ZkTF2xedW8T/\n"
	"ju/S6weXLjBXkr7V6q0Ol01JtG9sLpzqYqvJ7aThZ/brO1yJJ4zUIeVID5SJBsMu\n"
	"kSNEbuySxiJmNS54Wa6MLOIp0QOyqOUE8tdhgGnwvpyGuLrokPfQmMZ0nk+ee2mx\n"
	"gdpERJlqlfHTIk/T2Ly4kqMLvkD1j/MNu1opiYMbHFeb5oSMBVHaqp0IMGHpQgZH\n"
	"G/Pg/7YpLq5z9aK0XioRsA1iXuiX7PZxObYKDTVXECXYN9fG9vx9RO413+k2XUAY\n"
	"4w4Ucs6eJnCWNn8qC8wBYE3FnY9kmYaocmFaOqoRj1DLGj364f4pe141vLZCIdx4\n"
	"qjn+VsECgYEAvE34VFTLyYyPK/5IsnEuKw2id23QUsJpYubnK5CGdratyqkogRFk\n"
	"aPRrOxeL1RSgwETJVHKG0LV0W4N7Qi/m4nV/cKYOv4FUC2L3REvG549judZuqrJ3\n"
	"gF6Edx7/hG0TgwsqKRsoUrI766rpqqrkblHL3ylN2+pjFZOAnwZ/+CECgYEAupg3\n"
	"HO6SU5p61XOoDxT0TyMOIjAo4Fh87Zb/RXz4XZ42Rs1dJTRqRBxkUBUIbIjG9aUh\n"
	"UjSoSnxZmqm6rZRQp/15uVbXLTtLVQPRjKMFwu1WoCUlrMrYWlDLvFdeNAkiNlnr\n"
	"Y7eIiW1w2mxIsZDh7NL4YzPnjEOoiOJOm/munIcCgYA23WTodVh3HgwtHkbiLxXr\n"
	"l2pp78YOBvUbyvk5+T8kYa+bZ9QUXxPpfKWtrvugFwWLX79laoUbVHNVoqaML1bP\n"
	"TrrWAJw1ciIhuzEeZhHLMD03TWIrPBqTfXaNGqwKUpmnyd374hzKk4Hf9Ylln6s0\n"
	"9YI4QFmeJNm/1J1aOFOa4QKBgHDSXHCH573ZJ/AsEC+eUeIPphoR2IVdu5vEsvCH\n"
	"EX05jkPdJDa8rIwmRpkNPpyxTut0PuN/p0nyShN0EMWnaeVJI/JmiZB1y6TJvEg2\n"
	"weMMslX+X/tMYuio9acZhIIeC6ulTuhqLoo5vAS1eHa0zYXuQfVpitWKizrI6xLw\n"
	"Mx29AoGBAJ6YoOogSYEsUhdZm1VPs2VCJqqi/A9Pw99KvEcLiFNxk4+5lrsxjKOP\n"
	"IXl+Q92LrIHzj2I5FrXLuLiI3BBedib0Sef4vzDjltXVGvWcc5Rg7kQmykAiAvuO\n"
	"1k2ll0dD7q6qVk3izkhc9ks5c++K9ToWjyhSkNt2GVBuR91AQE0I\n"
	"-----END RSA PRIVATE KEY-----\n";

static const char pem_rsa_spki[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAiUCdQsALz7XJxO0fENp7\n"
	"5EOUGDazIVxEIJcyml+hFVO3oLwV8hWZNAOufjkCYohcnW3n2e8oDoQ7mM1m8WSj\n"
	"kx16Ocmpr5PM1rq3yhsq8jUHmJLwJw66gtS12Hw4xJ+TL0NdztHQ06EHb6vrAKIa\n"
	"isovBHketa3ByDBAGsADpLb9b6ihObBc9JzxEpYnq+KivMuK0tg0Ju5kTC2JQUYy\n"
	"UJ2WoMoiOFwQd9K7VubDY0AznUY1bIth/bzxxa1nqm4K0a8iZWBxTzV425JJYAf6\n"
	"c1yZJkL3dz/b8kNkLpxeFzvMc31Gb+BpMfQWja7IkaKRwYRvTwVwo3jeyekgKB31\n"
	"ZwIDAQAB\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_rsa_public[] __attribute__((unused)) =
	"-----BEGIN RSA PUBLIC KEY-----\n"
	"MIIBCgKCAQEAiUCdQsALz7XJxO0fENp75EOUGDazIVxEIJcyml+hFVO3oLwV8hWZ\n"
	"NAOufjkCYohcnW3n2e8oDoQ7mM1m8WSjkx16Ocmpr5PM1rq3yhsq8jUHmJLwJw66\n"
	"gtS12Hw4xJ+TL0NdztHQ06EHb6vrAKIaisovBHketa3ByDBAGsADpLb9b6ihObBc\n"
	"9JzxEpYnq+KivMuK0tg0Ju5kTC2JQUYyUJ2WoMoiOFwQd9K7VubDY0AznUY1bIth\n"
	"/bzxxa1nqm4K0a8iZWBxTzV425JJYAf6c1yZJkL3dz/b8kNkLpxeFzvMc31Gb+Bp\n"
	"MfQWja7IkaKRwYRvTwVwo3jeyekgKB31ZwIDAQAB\n"
	"-----END RSA PUBLIC KEY-----\n";

static const char pem_rsa_certificate[] __attribute__((unused)) =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIDATCCAemgAwIBAgIUQIut1Sy3XBAfCdhHPUyR7mIDnJIwDQYJKoZIhvcNAQEL\n"
	"BQAwDzENMAsGA1UEAwwEZWRkeTAgFw0yNjExMjIwODIxNTVaGA8yMTI2MTAyOTA4\n"
	"MjE1NVowDzENMAsGA1UEAwwEZWRkeTCCASIwDQYJKoZIhvcNAQEBBQADggEPADCC\n"
	"AQoCggEBAIlAnULAC8+1ycTtHxDae+RDlBg2syFcRCCXMppfoRVTt6C8FfIVmTQD\n"
	"rn45AmKIXJ1t59nvKA6EO5jNZvFko5MdejnJqa+TzNa6t8obKvI1B5iS8CcOuoLU\n"
	"tdh8OMSfky9DXc7R0NOhB2+r6wCiGorKLwR5HrWtwcgwQBrAA6S2/W+ooTmwXPSc\n"
	"8RKWJ6viorzLitLYNCbuZEwtiUFGMlCdlqDKIjhcEHfSu1bmw2NAM51GNWyLYf28\n"
	"8cWtZ6puCtGvImVgcU81eNuSSWAH+nNcmSZC93c/2/JDZC6cXhc7zHN9Rm/gaTH0\n"
	"Fo2uyJGikcGEb08FcKN43snpICgd9WcCAwEAAaNTMFEwHQYDVR0OBBYEFJqdin/l\n"
	"tcqaoaOy7iKbLChMtjO4MB8GA1UdIwQYMBaAFJqdin/ltcqaoaOy7iKbLChMtjO4\n"
	"MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADggEBAC8URkaugCHOzuZA\n"
	"zxdcPtr/n7pgPnIPPk64aBr7AoNOvlwfDDk1coFzwA9prdL1IkoeKViOfbXr8B4e\n"
	"ZXsgSp+iXeRSlVHyN+UpUgRrA8MY7sAcdiQeEMcA+QCeeOLfv2zYegm5dj00CGcL\n"
	"6yREyMXqyHpav4MJ1ucwHN/rMvsYEjkS2QAC6CpspE6wfZTSqQlMAkuxQpqLKIpO\n"
	"7mzNV4Nzh8D4qPFx1p7NtpjZboVa0/4fPieqqfZfTSPxUz1qSl6DxjaouHGqxhvt\n"
	"jpoXmenbaSE4yiqnKjbaZmyiEHjA90zVWOZFfczincKhQtvNkdp9f/ASmYAfRZai\n"
	"NFHX76A=\n"
	"-----END CERTIFICATE-----\n";

static const char pem_ec256[] __attribute__((unused)) =
	"-----BEGIN EC PARAMETERS-----\n"
	"BggqhkjOPQMBBw==\n"
	"-----END EC PARAMETERS-----\n"
	"-----BEGIN EC PRIVATE KEY-----\n"
	"MHcCAQEEIORAyQSylf6LOrEbR5moBmhnP87MOfI5+hIX6FKIditMoAoGCCqGSM49\n"
	"AwEHoUQDQgAEoMRu5lL/5xVhqw4t5ilK6wlcAtWUhf0x6jA5U/RWdanxBO2abMh+\n"
	"a5ikyLUnxFpWWQFyh0txhf1/Ho3cprhZdA==\n"
	"-----END EC PRIVATE KEY-----\n";

static const char pem_ec256_pkcs8[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5EDJBLKV/os6sRtH\n"
	"magGaGc/zsw58jn6EhfoUoh2K0yhRANCAASgxG7mUv/nFWGrDi3mKUrrCVwC1ZSF\n"
	"/THqMDlT9FZ1qfEE7ZpsyH5rmKTItSfEWlZZAXKHS3GF/X8ejdymuFl0\n"
	"-----END PRIVATE KEY-----\n";

static const char pem_ec256_spki[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEoMRu5lL/5xVhqw4t5ilK6wlcAtWU\n"
	"hf0x6jA5U/RWdanxBO2abMh+a5ikyLUnxFpWWQFyh0txhf1/Ho3cprhZdA==\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_ec256_no_public[] __attribute__((unused)) =
	"-----BEGIN EC PRIVATE KEY-----\n"
	"MDECAQEEIORAyQSylf6LOrEbR5moBmhnP87MOfI5+hIX6FKIditMoAoGCCqGSM49\n"
	"AwEH\n"
	"-----END EC PRIVATE KEY-----\n";

static const char pem_ec256_certificate[] __attribute__((unused)) =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIBdDCCARugAwIBAgIUDV/i+VQxCnF29m+HbmhSfZBV9MgwCgYIKoZIzj0EAwIw\n"
	"DzENMAsGA1UEAwwEZWRkeTAgFw0yNjExMjIwODIxNTZaGA8yMTI2MTAyOTA4MjE1\n"
	"NlowDzENMAsGA1UEAwwEZWRkeTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKDE\n"
	"buZS/+cVYasOLeYpSusJXALVlIX9MeowOVP0VnWp8QTtmmzIfmuYpMi1J8RaVlkB\n"
	"codLcYX9fx6N3Ka4WXSjUzBRMB0GA1UdDgQWBBT/FuXRXyIsWSF1aODiIKC/5xKs\n"
	"/zAfBgNVHSMEGDAWgBT/FuXRXyIsWSF1aODiIKC/5xKs/zAPBgNVHRMBAf8EBTAD\n"
	"AQH/MAoGCCqGSM49BAMCA0cAMEQCICYAbjan7S2rM3ZFK/cpgvkhPHpSaHKZEbSM\n"
	"mCBN8u5sAiA3UZctzEXCpWNb2LfneXd1hjbnYBH4fbQQzBcrOdKDKA==\n"
	"-----END CERTIFICATE-----\n";

static const char pem_ec384_pkcs8[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDA2SzEBoeGImoW8oLGh\n"
	"QdtvYrKC9bOLFITaw4l3JeSQZIzuAoBR2gA3/TTEHaYP8u+hZANiAAQJ+iwrIPhc\n"
	"lgFd3/xs6NDme7kDegIX/kmBegpcuz+R8UCEQWlfdn9aeDxomKHOl5q8HNX02FZG\n"
	"KFWa0VnSIBDgLiVVRpKvKT8D19leo0FVRp4ShRUiLXpxjLWe7suLXvQ=\n"
	"-----END PRIVATE KEY-----\n";

static const char pem_ec384_spki[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAECfosKyD4XJYBXd/8bOjQ5nu5A3oCF/5J\n"
	"gXoKXLs/kfFAhEFpX3Z/Wng8aJihzpeavBzV9NhWRihVmtFZ0iAQ4C4lVUaSryk/\n"
	"A9fZXqNBVUaeEoUVIi16cYy1nu7Li170\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_ec521_pkcs8[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHTAgEBBEIB8FDtVdBDxnd5ArTS\n"
	"6878QoUon0iuudN/VKNRhBVbgEz02W2jJCArqlE96F0bXh8rCZHrJN4TGDH8EMfJ\n"
	"BRxWKH2hgYkDgYYABACWYbN9gLCn0BvNqndLVfc17LfzUIGad7D5KaHh23n7ZSI2\n"
	"7mGIFqMkzIyJLJNXBKsLvqTi8Y7/SnyDJjrRZN/zIAG2n01mh7Cr+kBrKRQ5qqYG\n"
	"1DbrYrH+SOyeH+jkp2R4XWcdLILVdmY/7P8TFS62LqD36zhJCkoUmQUmclBIKfmi\n"
	"4g==\n"
	"-----END PRIVATE KEY-----\n";

static const char pem_ec521_spki[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQAlmGzfYCwp9Abzap3S1X3Ney381CB\n"
	"mnew+Smh4dt5+2UiNu5hiBajJMyMiSyTVwSrC76k4vGO/0p8gyY60WTf8yABtp9N\n"
	"Zoewq/pAaykUOaqmBtQ262Kx/kjsnh/o5KdkeF1nHSyC1XZmP+z/ExUuti6g9+s4\n"
	"SQpKFJkFJnJQSCn5ouI=\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_ec521_no_public[] __attribute__((unused)) =
	"-----BEGIN EC PRIVATE KEY-----\n"
	"MFACAQEEQgHwUO1V0EPGd3kCtNLrzvxChSifSK65039Uo1GEFVuATPTZbaMkICuq\n"
	"UT3oXRteHysJkesk3hMYMfwQx8kFHFYofaAHBgUrgQQAIw==\n"
	"-----END EC PRIVATE KEY-----\n";

static const char pem_ed25519_pkcs8[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MC4CAQAwBQYDK2VwBCIEIL72KP/tmAETLvghkFT82D3lPEvQNLVxGtVgMsdLBPnt\n"
	"-----END PRIVATE KEY-----\n";

static const char pem_ed25519_spki[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MCowBQYDK2VwAyEAvX5rZnoe+cEsxmy9cMC8XImnEL5Algubu1Pc5IQ5VuY=\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_ed448_pkcs8[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MEcCAQAwBQYDK2VxBDsEOXgi4ee3ZjWeIPOxliYjJqtoOhc/PgJaEC6hoJx0KcDd\n"
	"9Ln20k2/SZ3Pfq3dzV1z86PbgXEDmAJ+HA==\n"
	"-----END PRIVATE KEY-----\n";

static const char pem_ed448_spki[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MEMwBQYDK2VxAzoAd5Q/baG0qTjaIV9LomHSIDvhvPq09WAqNpMz4ntPBi2T7vZI\n"
	"PmAASc69aNDROhqTV7aZoH9Nb7oA\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_rsa2049_pkcs8[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDRBQKKC02ZYFzR\n"
	"l6L9XrBuP0zuXmpJFahVnBSE4fF+/9Xgm4sZ+abjoX7HBgwYyBUpD4yyPfj+YsiP\n"
	"oIDuVZx0uDowWtvl86IacECJdyNpH43clkfXmuMLB+wLjn0KOjvpWUnkb7vnanD3\n"
	"t4B18rZEJTIyuUp8sG2O5JFRGqT5gS2dt2sviUZxEztoC0BLozA9WGaoqmKFfefY\n"
	"DLiEQu0P6mU0rl4pH9oNdTA7bRpnt5PGAXoQMxQnTHkMQPK/d3is1FT1PnPtmD0C\n"
	"gVrAn6iuNPmwzKH368OLXzMw8fxVl5yw2d0unamPzHKCiWz3jz44fjI09GnLaml9\n"
	"wFUna1SxAgMBAAECggEACEdnVWgLVL1zrbhQrBIYoURD9/7QvUh0on/wMt93axcn\n"
	"bbohd0fbebGNScUqPF7L8kR3t11jp/FKFgDGrJIC5H9hzCWkJzp4P611q/A2bIjz\n"
	"u7KO4coEb0za9033c0zRT83B4tC/Z8QQOYqY1asld6NkxqwuyGutSjswy45nbYuz\n"
	"S4d6xcrJ9ccAxkOL+QUxrWsEznrbU1muiVyFngBRPkhA43lMqY4Bo4SPs969JoJX\n"
	"93FG5hXTTDw1RDvf50fMwvz45vvcYgLy8zo3KAcfP0azlgfJ5VubzLWVOBnmsEnE\n"
	"r3uW01C9r2P2HNbB/VRk+XDYLFHJ2ZaoGX74Fsr5AQKBgQDni1gtg8sF2ZyBmxYq\n"
	"3zxgth4YF4zul5zflu12AFVwvgH8DtSqtMla1y6rEnroNolmxw+lucePB7w5ebb+\n"
	"CkEEaqTF1DWuGcTDvQW3m59uJiM/VX/ZNyEHmVLFPBR2VaMKM1jlT9wCFzNOIgUB\n"
	"8OU5j5ykWjWHreJvDt4jTMQtsQKBgQDnGKA225YjZLu/r3NU15Enn0WTqB7iL1ND\n"
	"qBUJRrjBTR5xqx4Ge4bVKEOTqGG3FuR4xQ4ctr//+UFKTAR/JKuw7MBVEIBxeGWb\n"
	"taKN8q7mvrwSPdMmPjr95CRwNOUjT7zBdUXQn1sCQbUrIKekeE4DLAbtGXQYBHGn\n"
	"K4/uSSBXAQKBgCsrjM43o1O85fQ4MSLfKkexzNybD3iwpdv+LNnyZ/u0QXR4Y2hM\n"
	"erpIInhc4rOG74lNFfrFL5LYU1y398lXqhWjuIL19Og3/7qq9HTuPARyceHuE/8w\n"
	"yyS6jncdo4cIonRVbH6crB1rq/ImX56kBmj8AK2X8CES54PjVsFoH6+RAoGAKu2K\n"
	"JWaY9y4pKixfUi1RC3kspYcfZYjBANpiPfzjKRU4SIku5KlhnIsEMpOewzH/cue3\n"
	"/WF9PQGCPVjtpOic9Bqmh6avFWT2Cvysm42vK7HWodTWOk5pCuysUCOjRPH08ELm\n"
	"myBe+YZXLxG70nN+mlw9VSHbTPLWYeVXsT3oQgECgYBjV0+2wm+uhx/6LZwZluCO\n"
	"92wkTHjV29qmxutesGMvqGe8fSz1b0/s9cHfgOgkNs7m9hm7omxK+/Hlw7jvToR5\n"
	"dx+aueYeeBncHHy2NrIFCgiSjp5AkZ7g0ueE8slScGLVqOCWIYucO03xJw8LgdT/\n"
	"AuUxP7r6/T7ei1xKR/OFFA==\n"
	"-----END PRIVATE KEY-----\n";

static const char pem_ec256_encrypted[] __attribute__((unused)) =
	"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
	"MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAih4YrWzohsJwICCAAw\n"
	"DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEELM1K2QR2UioOiVKV9vsD40EgZC+\n"
	"mZ/8Y5YOfXTWme5F48YGFIKzkfaoacI3Ay5FYewpRZ/c7Fwbtw1/tbR2DfbgrRot\n"
	"kqGt+YWiVCWvhCkKPCZElsL8gL+cTfpURiAEXZ01wPY4spV8CiEYpHk9rc3LvF+D\n"
	"MtVLVetHdhYaDuNwmzD0HHTtwgr/7uQ6GqQaK0NWW+oZ8ydPG2bTMBKtMgjatsg=\n"
	"-----END ENCRYPTED PRIVATE KEY-----\n";

static const char pem_ec256_old_encrypted[] __attribute__((unused)) =
	"-----BEGIN EC PRIVATE KEY-----\n"
	"Proc-Type: 4,ENCRYPTED\n"
	"DEK-Info: AES-128-CBC,68EB3B252F2F6E0332CC15EB6EBF8F7E\n"
	"\n"
	"CFYUVH3VmXusxPDsXz67tZawKRrPJd3Sv0LvjFiSQCXqMMZMoT13AuNZf0NwG6dI\n"
	"OHnAch04KW19fz5o2jAhmLZ0GYgsMiRe9econ40vtZniFKKK+KJ82Wok1hDb8XLB\n"
	"YGX42BpQ9CZ/+Gw7sMkM4zsOJX56BcXbeiZ5balE1UI=\n"
	"-----END EC PRIVATE KEY-----\n";

static const char pem_ec256_compressed[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgACoMRu5lL/5xVhqw4t5ilK6wlcAtWU\n"
	"hf0x6jA5U/RWdak=\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_ec256_explicit[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA\n"
	"AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////\n"
	"///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd\n"
	"NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5\n"
	"RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA\n"
	"//////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABKDEbuZS/+cVYasOLeYpSusJ\n"
	"XALVlIX9MeowOVP0VnWp8QTtmmzIfmuYpMi1J8RaVlkBcodLcYX9fx6N3Ka4WXQ=\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_secp256k1[] __attribute__((unused)) =
	"-----BEGIN EC PRIVATE KEY-----\n"
	"MHQCAQEEIItx9WNdL0C6xeGpKK+z0CTyieJ/AzEp3ZhpPeK3rnz3oAcGBSuBBAAK\n"
	"oUQDQgAE27eKGhJvra0GX9F9Xxoz3g9YnItepxwh+LROfP8ivXmpkFFBYjrmOLO1\n"
	"KQCrqA6drwmcqItJmdynl9trBT09cQ==\n"
	"-----END EC PRIVATE KEY-----\n";

static const char pem_x25519[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MC4CAQAwBQYDK2VuBCIEIKDnW1piyUwl/0rZKSPtEbnu8SqNOO2hJsfNA/dznPZs\n"
	"-----END PRIVATE KEY-----\n";

static const char pem_rsa_1024[] __attribute__((unused)) =
	"-----BEGIN PUBLIC KEY-----\n"
	"MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCUJfZA4K/HPEQx3bKw6r7EA+Y\n"
	"NhJv/hlweo8ROdvGLtNKamS4ySff0p2tOEvQG/2avqpoOR0MVsYExcj2UP1T9Ez0\n"
	"QMSLvtj5OZyyuvTl9suvPLVM7ZP2sVo+6eakniEDsh1NDogOrvRnMeth07Za1N20\n"
	"WlL8qayVywgKsoEAxQIDAQAB\n"
	"-----END PUBLIC KEY-----\n";

static const char pem_rsa_three_primes[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIIE8wIBADANBgkqhkiG9w0BAQEFAASCBN0wggTZAgEBAoIBAQDD/e9oJfykyp++\n"
	"XJAgl3sIMffsKgcxLqVu8ZuHRheduZigBPCH/vIy61UDn3fR2moTWScOy+Q6beZH\n"
	"UWG+Cr9L9zSs9PrTbO76v8aPABpKlKY0/sY5ef/B+t4rGKnh4VpteOyQRDzw/Rbc\n"
	"2Ut/ELaxQ6BnEXzutuqC3mDBJukTOaRLKaERpSyt0zy+zBSXaUaInTwIyMSmdUAd\n"
	"TxMSR+YrCRGvdntRN3O68NChEEvIFCLVIwfbYQqILoKeGOw54W6QUsTHtDHEYFcC\n"
	"J09XdqZpKfaAptLld94PREYbwFFAIlFNf0TNvicdLSCkCAwC2XunMMB/e9vUfVmD\n"
	"jCRzhPYTAgMBAAECggEAcgbeb7iSGYotkEIoNF4NXYI83LDDCHE8HKUCuJwmB0TA\n"
	"sHDPREAmx0s1Zes0eepaBrG60Jf9S6U+8cU+WaPFEjxb8DiDadiZ3VcP/Yiwwy1i\n"
	"2bhUuUHiY3bSOfFWn6lAK+XmKL/oIPxBu46r248ZjZ2TmqOcexWn6ja0o4qVetqi\n"
	"YENB88XyAENjmBHKZGtepkMsEjOwXHq8Ii9SChJcaUWSCPV9fJEBHN4Nda+nmXRh\n"
	"lGgDoxWwIcR5EIYb2pXE1PFK/iAV/AVoimIRUoGccukR3mmkX5G8Y8SM825nMc+l\n"
	"Le+rv1zJEpLMAzELkMMrCtQo8Q8/2kdelybVd+PZCQJWB8lnuY6bzO5ttU5a5mcG\n"
	"F1gk6kitclUc1HPYewI745gxaVUa36WrJ62n2jDThST6hFS0myTm96XpEV81XnJS\n"
	"fphTpYE3UMa3GN5AK5EshmOiBTh2aNcCVgeU5z653DRb2fjmcsHnWnP/H+29Cw5k\n"
	"x5TxHcpCzdd+2zCZnjidRUS8tRDgm3+dggramT6AY2B4wdynG5gW0g68ME85WC2U\n"
	"g8svI31RNBb0KJjNrrybAlYFLpWmuS8aHHpKNFDuEBXPp0s51xAGjHnZMRcaFYyB\n"
	"lCEd9hMiTwAuMbUI0YGSk99b/XsL3G0Q1grbEr9TkUUxFnJkLDABw5zKIe4WkFBP\n"
	"RzLlwoOalQJWBlXTwaN3MT1Lb+PJIuRavjECkhr0oStvZrLwbLHT5W14ZS0IfFBW\n"
	"sHBrcNXuuf14y+8MPKD16Ygenm347ear0mpIh/roBvZiBqe2JSJ0v3V4cu70Q18C\n"
	"VgEMBqCUw0WUIOpn9/h+nK3YR5qxI7oy01Gl0j7RsiocDJN3aQ/kX5oU0jyNNMDF\n"
	"0Dm0TLJ86uQm5JPCupanpRw0LSLSdxyPdfUV/03WMqaHJ4zAA6G1MIIBDDCCAQgC\n"
	"VgNR4cisE1KQiCUII9J2abLoDn2CvRpPguILxZQArdsbjadbrn83L1hGR/iMd74W\n"
	"UX+m2/UM+oboan7HhlihIQzzhJA+GbHFpDrM4kN9yxm7lqB0oI0/AlYDSxY1UOZ2\n"
	"MGSuf82xecBPNz8wqSJY2GmZPl5I/Qd65XF3hU6sap0v78Bzwz0CN/evL2LiTHa2\n"
	"oBcNH3eZsnYr9+MYiFJK9Sp/HkKS+1Ygd+Pr1uZyVwJWAdud9uDt/a+m5+x3735+\n"
	"/01nCeEAjDPZ3lEkDdyzZI+Hs1i/xr1KjcUdflIpafXlX4CYqAbfX2YowImVO7/0\n"
	"9RRVBUBU0dxhY16byU+to5vAjprRhVc=\n"
	"-----END PRIVATE KEY-----\n";

/* clang-format on */

#endif
