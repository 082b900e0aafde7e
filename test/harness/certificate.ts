/*
 * A self-signed certificate for `localhost` with its key, valid for a hundred years, for platforms
 * on https. Only tests trust it, so the key protects nothing.
 */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUXEGE/VqP8UXL4x/hGCdiVDYOn9UwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTEyMzU1OFoYDzIxMjYxMDI4
MTIzNTU4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS6yXLfoQbdrEwImx5SURxtygfDkWYq28znFe8gggxtIAaAreEXHXHP
xff40SUvaTMNnXVECXd0V798MdP67yo7o2kwZzAdBgNVHQ4EFgQUZPDqJoc1kD67
rIWT5x1h2tOT7p4wHwYDVR0jBBgwFoAUZPDqJoc1kD67rIWT5x1h2tOT7p4wDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIgUPg2VZM5E6Bv6ouzvsSaF8Jd/WFNPYnXvmD42ZMcd+8CIQC2SVqsdTkI
+yof6gPB2Hw0bEylPcJARy+z7ULF3kpelg==
-----END CERTIFICATE-----`

export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzxA0Bo/Ie6Zq7FAQ
X0saVmcLsL0HiqohVqJ/QbXo+DKhRANCAAS6yXLfoQbdrEwImx5SURxtygfDkWYq
28znFe8gggxtIAaAreEXHXHPxff40SUvaTMNnXVECXd0V798MdP67yo7
-----END PRIVATE KEY-----`
