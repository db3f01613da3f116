package secretscan

// exception is a value that looks like a secret and is none.
type exception struct{ file, sum, why string }

// known are the exceptions: by file, and by the first 16 digits of the SHA-256 of the
// exact value.
var known = []exception{
	{"cmd/signalcast/main_test.go", "a5bce6f9fc13ce2e", "the alphabet as a key"},
	{"deploy/devidp/internal/person/seed.json", "025b68933739777f", "the address of a wallet of an invented person"},
	{"deploy/devidp/internal/person/seed.json", "161153f0415f87ae", "the address of a wallet of an invented person"},
	{"deploy/venuesim/internal/server/recorded_test.go", "0001037ccf439c87", "a path"},
	{"pkg/conf/conf_test.go", "163ce95688b7e142", "settings of a test"},
	{"pkg/conf/conf_test.go", "19079cd0fdd2cff0", "settings of a test"},
	{"pkg/conf/conf_test.go", "bf593581ba55bb59", "settings of a test"},
	{"pkg/idp/verifier_test.go", "4f604235c8dd39d7", "the public key of RFC 7517, A.1"},
	{"pkg/idp/verifier_test.go", "78f7ee06fdcf6b23", "the public key of RFC 7517, A.1"},
	{"pkg/obs/log_test.go", "59b975797825c80f", "a canary of a test"},
	{"pkg/obs/log_test.go", "84ee66a4f1d77891", "a canary of a test"},
	{"pkg/web/request_test.go", "ec4f990ff72fd56e", "the numbers from 0 as a key"},
	{"proto/testvectors/messages.json", "201d223441dc6789", "a public test vector"},
	{"proto/testvectors/messages.json", "67db52413812e767", "a public test vector"},
	{"proto/testvectors/messages.json", "76bab07a6d8788a7", "a public test vector"},
	{"proto/testvectors/messages.json", "e4e2c582e6919e0f", "a public test vector"},
	{"proto/testvectors/messages.json", "ee841dcb2ffaed0e", "a public test vector"},
	{"services/api/internal/app/config_test.go", "6dd0c9759ec1e2d2", "settings of a test"},
	{"services/api/internal/app/config_test.go", "c37a78b246efb0e5", "settings of a test"},
	{"services/api/internal/app/config_test.go", "d07598f5375673c0", "settings of a test"},
	{"services/api/internal/app/config_test.go", "ffdf0e198a8bcb69", "settings of a test"},
	{"services/api/internal/edge/testdata/feed.json", "aaf7d033cf5914a5", "a cursor"},
	{"services/api/internal/postgres/operator_test.go", "bf059144f3f0f782", "the numbers from 0 as a key"},
	{"services/api/internal/venue/kalshi/history_test.go", "9e6d3ab594fe0c71", "a path"},
	{"services/clock/internal/app/app_test.go", "163ce95688b7e142", "settings of a test"},
	{"services/clock/internal/app/app_test.go", "19079cd0fdd2cff0", "settings of a test"},
	{"services/clock/internal/app/main_test.go", "ffdf0e198a8bcb69", "settings of a test"},
	{"services/clock/internal/edge/edge_test.go", "bf059144f3f0f782", "the numbers from 0 as a key"},
	{"services/hub/internal/app/config_test.go", "2b25dbd9997aa9ea", "settings of a test"},
	{"services/hub/internal/app/config_test.go", "5ff76f7564d9d239", "settings of a test"},
	{"services/hub/internal/app/config_test.go", "6ace9a6f64ef9419", "settings of a test"},
	{"services/hub/internal/app/config_test.go", "ada4f631df30c810", "settings of a test"},
	{"services/hub/internal/app/config_test.go", "ae29862c9a5536ce", "settings of a test"},
	{"services/hub/internal/app/config_test.go", "c37a78b246efb0e5", "settings of a test"},
	{"services/hub/internal/app/config_test.go", "f919f4a1e502a8d6", "settings of a test"},
	{"services/hub/internal/app/config_test.go", "ffdf0e198a8bcb69", "settings of a test"},
	{"services/hub/internal/app/identity_test.go", "a79f3e0d382011e1", "settings of a test"},
	{"services/hub/internal/app/identity_test.go", "ec0817992c061f05", "the example of RFC 7636, B"},
	{"services/hub/internal/caller/caller_test.go", "bf059144f3f0f782", "the numbers from 0 as a key"},
	{"services/hub/internal/claim/address_test.go", "025b68933739777f", "the address of a wallet"},
	{"services/hub/internal/edge/bench_test.go", "30ecc6c617d7d0c2", "settings of a test"},
	{"services/hub/internal/edge/protocol_test.go", "dc218363f078d3d0", "a path"},
	{"services/hub/internal/edge/testdata/keys/minted.json", "2650748ff8aa4a87", "a key that a test makes of a fixed source"},
	{"test/e2e/account_test.go", "76862bbe7d3ed641", "the address of a wallet"},
	{"test/prove/internal/rows/consent.go", "0d299b1eb548708d", "the example of RFC 7636, B"},
	{"test/prove/internal/rows/consent.go", "13d31e961a1ad8ec", "the example of RFC 7636, B"},
	{"test/prove/internal/rows/delegated.go", "0d299b1eb548708d", "the example of RFC 7636, B"},
	{"test/prove/internal/rows/f3.go", "1165696c5c040f6f", "settings of a row"},
	{"test/prove/internal/rows/g5_rotate.go", "75f913ad1d41ff99", "settings of a row"},
	{"test/prove/internal/rows/g5_rotate.go", "fdc9e245c62f4a26", "settings of a row"},
	{"test/prove/internal/rows/i6_writer.go", "58924b596ceee9e3", "the address of a wallet"},
	{"test/prove/internal/rows/l1.go", "2ebcf4d7de6828c6", "a path"},
	{"test/prove/internal/rows/l2.go", "c39a2d6b70b06b6e", "a wrong secret of a row"},
	{"test/system/access/secrets_test.go", "c39a2d6b70b06b6e", "a wrong secret of a test"},
	{"test/system/credentials_test.go", "0d299b1eb548708d", "the example of RFC 7636, B"},
	{"test/system/credentials_test.go", "ec0817992c061f05", "the example of RFC 7636, B"},
	{"test/system/input/bounds_test.go", "58924b596ceee9e3", "the address of a wallet"},
	{"test/system/openapi/answer_test.go", "d5c508b938e17494", "digits in the form of a key"},
}

// whole are files of other people's programs, kept as they were published: by the sum of
// the whole file. They are searched for secrets of the system and forms of secrets alone.
var whole = []exception{
	{"services/hub/internal/edge/pages/static/swagger-ui-bundle.js", "e6a898692f2d768e", "the reader of the contract, packed, with its pictures"},
	{"services/hub/internal/edge/pages/static/swagger-ui.css", "5ed08757e53da3e0", "its style, with its pictures"},
}
