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
	"MIIEvwIBADANBgkqhkiG9w0BAQEFAASCBKkwggSlAgEAAoIBAQGSFx9ymy94dync\n"
	"DYTc0T+mKfjTlc/ej8ONEP1i1Xbworx1SFT3JKP3uyN5vAK/bfKIA9W2g83UVLm+\n"
	"yRjjnet8LxCQAKeaYOsb2j9EdtzLmQIYJ5744H/+TMEe1Lx3mW/HNSRPwHePwUL3\n"
	"On3L8DDwbGTxbeJvOUCjAmCeiLqr970KjHmKpsIUvDROQXLFwmL08O5lSIvLZ67w\n"
	"st/ij+Fm3xS3OmtX+vY6LS42PqaDSub1BI3fjsQx6Zvnh5nxLD+GWOELPh/sZiH0\n"
	"CSVAT1DyyiUnMBjT6IJSRWJCarad6cPn1wd2xke/C2WMD7YJ4Fw6ojhXw04LTLi2\n"
	"E1ov/lVrAgMBAAECggEBAVgRkUdwo95hmeBDcT3DkMOPhu0HdSjtvFgqAalhILYp\n"
	"izqQ+qPBJs4FxQWWbIOCgdcB8Q6NGsRm+8rWKgYcTDWn0HRpGwJvjL/4scrUK3vN\n"
	"Io2o2c/9y4jABUFsqRluosfEIZ5dA/JvXe5QjvTERBx3pKkzbl/ejgDvN95xAcvD\n"
	"njZd8zMVWhrojs0yjjbiK0g+ZF4evjIvy7s4mkw6Tke1yzph9n1E350UmstN+TGS\n"
	"hhyNG+sLBNscwvKp+0bRnlGNAaQlSk9R050arV4jnJhJ4CmEkc5VnHGeV1WT9tvC\n"
	"XWiJAdCO1rSNyCoKL8OpfktclbcxKBMBIULWeWwcYYECgYEBwJskXWIWpDZ7TFLx\n"
	"RGxabpMKJ2DWzNiyNLl323czfS6BXkfQTGwI5XTw59+HoXaawCwXpsuu1ZIzZl3g\n"
	"LPtHuJNR5L7pEaWsLNGa3NTk0OCoPIxruYaXM7oGH+sQSsEx2pkCPA5Zy3zOKe0i\n"
	"7xpv0Q/0/8HFc4/40wB+5h0fVd8CgYEA5XScJI2b9jUC2iaxH8WAVu/YHLUcPA8O\n"
	"mAnH4iRrY7MgDgHxT6RQ4jxqQMnImfon5kvLtFoIeA3rY9jEy+gs9TkXsmDAWzzi\n"
	"Quzmv6a4BKeKK0XyoIMc9lTIh9si2vR8oqFDLno9/+6EPca4XRzBGJ7CGuo/Jznq\n"
	"jmkADmRtufUCgYBOatAwgrTyf5OOA/GoxEgKjCl6OLNTm42LKeCJvIyDlV2H3YXL\n"
	"1ha4BXkXDzvmPZVPgmWgAnrNWoEho8dMFaCz4wytr7GOJCe0re8kKxLUcHD4JJOw\n"
	"GpbTs/DeI3j1mE/epmB9nwSTTX28VneE1Fo3cVKiYnzhdolIWQ3Vq8GOgQKBgQCF\n"
	"nkZfMuejlHM4vlde/RAjkD/1V7I9dzc0al2v3y16PZFpFtCDZFiFplDpsZfTss0R\n"
	"Wwog2F0eLFzrJAxWAbpMgxa9lYHun6HS/0nQSTHX5Aid8nm75x4yhGTSWFYP01fR\n"
	"DL+mjSEVrLvtjY9HCbuYrrqyGb71BNEGZTbXKryLEQKBgQFA6ogEp6BzEGH2NsMr\n"
	"DHPlPVXW6YI5QQjFBSZdLqbQxUcAip7PJFFLo2J4z1FbJa8HE0UhlhQkB8i+bgEt\n"
	"iR7Cp1tfBr3awiK/6Acijli7GgV1TkbXFHJi5763P0HKj57rF/h3QyX5q8hHEjuU\n"
	"LtvQXOCVBIEWmHCYVF1J75/m/g==\n"
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

static const char pem_rsa4096_pkcs8[] __attribute__((unused)) =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIIJQgIBADANBgkqhkiG9w0BAQEFAASCCSwwggkoAgEAAoICAQC9QCqFbIo6MF6D\n"
	"kAJOPWDPxSu3KJ6NJKZZxPSF7DFt8QPxYhsmRjNLuST5qaJBcfdx/Vepmp8u07nj\n"
	"rW2xoXLoAMMfZuR3TqfmmtXEA8mrGqcFDdoNWEE+9VMGwFe096unpwJM+a0hw2zb\n"
	"yuwXC79zsA400HBMyKIcbbvoG9MwFM207pLq59r2irgajEYxQLqZE/y7l8y+lwQp\n"
	"wr1DfFpGATxhwvZO43W79p9yCg3LC+aQ8kNITVlNP02IIVwZG+KVcI5z3V2Sos8I\n"
	"G4c0dGi28XcguNbaq26yhpTCLmOQCwRezCPoMAQAEaVLZss9BcT8MFqjy3xu+EAl\n"
	"Mznht18H5h6d0fth6PNOSyBf8AbZiNAVf/KY0iUu6sR6CYZdsBwqGOdRFZX5PpPj\n"
	"E2BB/lWG2zSMcPSAIbVWDQUIOLTWlKp9iZBQs7k7jQFbVKPtHr0R4cFnVLvsMTRi\n"
	"pHkwfwzZMW423mE64QLU6KOT16h1/La0EoZExxGqmAB3nY6PQ4Mtmnv5puMmtxPp\n"
	"JN0xNWHCq6kwaFYDvxvwyi2MeN7TFXI/XJVBuKQeo+XP1Kk04eII8zp8SP1dQcCV\n"
	"vIMmZBXA0wDzZzrcr4UyCtU6audCCVFRjIvfiPYJGnk5j6zJE6OkNgodEVJWDiqJ\n"
	"ErTtuX9iQnZYylX2OGBJx0k5e3o9OwIDAQABAoICAEGOEAyer/T/G0YsZLgQZ9Ag\n"
	"xwdPkThoCR2QbXlUezzPn2OGbcwgxhUFYar/2T4dSa8ZKDwOXPSeD8avpQ9CUyjN\n"
	"VsmyXRJ80wk8+i5Hd5yHA3LrPOyhdRxnY2azys3bewD8h339gLzw0m0CSiyje6KJ\n"
	"yin+R+A5IXqCgnQg61M86ZKyj37CaKU9IQ/FJm1aNCjhdQrQRvKAIkeK9v+A/E5C\n"
	"kFV28NYb0YUWJV4d4HBEw43S9X5+mJ/6/RLaJ2plL+Q/FIFLHWY1ckynKHsBleJF\n"
	"G1Rg4r/lYVeC6dWntwJG5rEluoxr0X7qndzUEzOko3sODt+tFYHlCWc5auPmnopn\n"
	"FBOeGFzt89Er8EeLWzzPZzxWZ/MjRLCwNZpRP/YZeUSTgnOgqTEA68AchGdCYRlt\n"
	"p0ogbKcbFpZIFNHKSC+jKo7v2rzJgNDuzw1EOy8CjY7dqKyj3RPBHaE4YhEdY/Sc\n"
	"+KPSew+ApUcJegtpz6WUNV8spfQZ9JHJrVp7E0WQCJqQYdiJKqifXtyU8pjPOpJB\n"
	"HRonkCzCf4hhrOqiuLsDgA6RbnlX6AVWrtBSdoIrWYMjF7otLM6qhVo+Wgy6LPQY\n"
	"xalZJPeHPddxhG6OAVZLVOfpfGdnf50Jml0gVZ51YpGRyM3/d/U6hudjHMriMZDd\n"
	"R/ZjKcCyvG5vvwMqPkkVAoIBAQD0kSf4TeIU2HUXyc31sWL1nMtgnZLB+xFKb/Up\n"
	"oXxy5NrEiUMcQ+ak9+7aGVM6Sbd52Jv5iPuo8R4IXZzZcI8BD/uiJMbNLrOZizAk\n"
	"BBu4cwOmyYmwSrvsHW5l+s0d4TgXuqSX2dlBR5j79YtgrXAu/wIrynzs/hgZ3y0C\n"
	"vNnX59y/mkNrliy6QiHHXMEOwkm14Cw/qB7hkHP/Qc+xCRIVpunfpq5Y9lxMGEu1\n"
	"IvKRbFDBWjSKVksRxF3HAkk3IDWv4frNYcygW69IZrbpvSCfsSTDPf7X8nJh+AHz\n"
	"Kn9LEWCjJrW9y0/vzqJ5x4zOAClIg8om6OXYUgYtrmYM8jMFAoIBAQDGGQOXiiKS\n"
	"Uxh9FsK+KGBv5GfbkRECrHy2mqp+4HBAiG3L2x5F8ssQgM4FRiVUvAu/bAilqyhd\n"
	"qRmAVL1NcDnk0/p59E6+1ZtkCygi6Yr6n5XWP8e21ng95uq0LM5p50ws/M+RshHf\n"
	"R0/xj86PYgJZUD+mehig5rXe7x0TVkV6VRJWLt/Kx1lVHeuQ3Y8UVVVc4obmbhj6\n"
	"qIJ32kh4YsjORvAjVO0k2tufjLVWaocmP6/avewn4GMZr2ddQ3A70eZv6bn0eGKH\n"
	"mBVO/44Pce0rxS6/7fydJ8f8j7A7NcWbs2D2drhrk2AaFWY2AVgc5rEr9kVfJi38\n"
	"+fVQhrE0LiM/AoIBAQCCgK6ebhjU3MhmwDXaBCT1QQy5anv0bN/GI8XjyBsbSAmA\n"
	"1GnuPEFoCDD5SohB0zJHn5Fjb3gypy9KcYGP+eMlQv0YgZ1fwarupPo0Tcjo/N6W\n"
	"8nY5jzeGABJ38oPfjN2cs+i+au3mSqlU0arlFMeHHGZxLaTJ5bDApXlkO5fXAQ+n\n"
	"Yk7VqxYE8eMKefE+yegBWDTkZvbLkISFUf3czyVKTn3/7Pad3CBWLqS/bH2Zof3Z\n"
	"nyPoKbH3MhyEZDDjbJmZV/G4BJbnfuUiskSqp1QwQpuGX5+MZgApTOjlc+jnCsfR\n"
	"Z4eVVlc6dL34U8ZL6oQdAM4vQxna+7H2UFh+UgNtAoIBAHp4Wn0knG0ETH6BRNKV\n"
	"WdGzTvYywGZ7xvqJsmCQVzW+YssGY7fw+9PvHe+qx0eUnlqw6sOphmIpOifZu9MV\n"
	"T+WFnDQrc0eN/eyi7SRwaEi7wsHbWphSDbKPgYj0roRQyAqEHbvAcEYu62C3fIeu\n"
	"my8masN8dp97IvN5tusOihOwZo67mgXeqv7xaYJ9R4jVnNm4/peVd4H4DfkVDXrH\n"
	"78d/mdTuG1KOr/r63d1YLMfb1deRVV/t3Lazd170Y33ILgQAZsOabafQwVO+sNAh\n"
	"qfRGirmD44oxXvVozBY/DzVMd+THzwpK6b4WfsNin1v2z5ATSB4kF4hv7FblfsZ4\n"
	"w7cCggEAIBOsLSAg+cBHl1GT4jsQOVHAKH64ucjWDGCJdWOlm49JvbagDiLpDk/F\n"
	"tiinravwlfblh7HKKgmE6ZtYZC+P4WywlZzdU1FcxTdQVM3TM6DDMmitcrCYBeUc\n"
	"s28elxjerFJ6TSh9s6tKtZdGarBNRMuy/Cl55qiwJUKe36OE/kdbaPAjYJbWEY7N\n"
	"/dvDngy2SgD+tt7Pb2ODM72AttLOY/Ru9gBsuNWfgdUu72fdfog4XaBRn8WGnKLC\n"
	"r7rfyfaac4X1QNu0k8nkDMbsTDtUIYE3NrXgSj4kQuoy3GO0SBQcPRSzOG+wfwEj\n"
	"GBpaBvUAtVnTy/88xNfSmgDb17p8ig==\n"
	"-----END PRIVATE KEY-----\n";

/* The private number of pem_ed25519_pkcs8, in base64url. */
#define PEM_ED25519_D "vvYo_-2YARMu-CGQVPzYPeU8S9A0tXEa1WAyx0sE-e0"

/* clang-format on */

#endif
