package main

// adapters lists the packages of a service with input or output. The values are the packages of pkg/ that each adapter
// may import in addition to commonPackages.
var adapters = map[string][]string{
	"httpapi":  {"httpx", "httpcache", "ratelimit"}, // rate limits are applied to incoming requests
	"grpcapi":  {"grpcx", "ratelimit"},              // rate limits are applied where a key is verified
	"postgres": {"pg", "lease", "outbox"},
	"relay":    {"redisx"},
	"venue":    {"breaker"},
	"delivery": {"safedial"},                  // connects to addresses that operators enter
	"upstream": {"grpcx", "redisx", "outbox"}, // caches answers in Redis and writes facts to the outbox
	"partner":  {"safedial"},                  // connects to addresses that stations enter
	"mail":     {},
	"hosting":  {},                     // connects to video hosts that administrators configure
	"hls":      {"httpx", "ratelimit"}, // serves video files and receives the streams of encoders
}

// commonPackages lists the packages of pkg/ that every package of a service except a subject may import.
var commonPackages = []string{"protocol", "apperr", "telemetry", "skill", "ledgerclient", "batch", "cache", "dbtime"}

// subjectPackages lists the packages of pkg/ that every subject may import. A subject is a package with the rules of one topic.
// None of the listed packages does input or output: skill computes, batch and cache work in memory, and dbtime waits.
var subjectPackages = []string{"protocol", "apperr", "skill", "batch", "cache", "dbtime"}

// subjectMayImport lists additional packages of pkg/ that single subjects may import.
var subjectMayImport = map[string][]string{
	"caller":     {redisClient, "ratelimit"}, // counts calls and failures over all hubs
	"livestream": {redisClient},              // counts viewers in Redis
}

// redisClient is the package of pkg/ with the client of Redis.
const redisClient = "redisx"

// subjects lists, by service, the other subjects that a subject may import. All other imports between subjects are forbidden,
// so that there are no cycles.
var subjects = map[string]map[string][]string{
	"api": {
		"resolution": {"signal", "market"},
		"board":      {"signal", "operator"},
		"record":     {"board", "operator", "signal"}, // a record contains its owner, calls and rank
		"attention":  {"signal", "operator", "movement"},
		"signal":     {"market"},
		"movement":   {"market"},
		"broker":     {"feed"},             // sends events of the feed
		"lane":       {"attention"},        // the words of a title determine the lane
		"webhook":    {"feed"},             // delivers events of the feed
		"export":     {"signal", "market"}, // an exported record contains signals and the quotes of their markets
	},
	"hub": {
		"effect":        {"message", "market", "livestream", "operator", "signal", "stream"}, // applies a signed message to each of them
		"broadcast":     {"livestream", "program"},                                           // combines live streams and the programme
		"grant":         {"caller"},
		"caller":        {"operator"},                             // a caller is an operator with scopes
		"follow":        {"operator"},                             // operators follow operators
		"identityclaim": {"operator"},                             // operators claim identities
		"message":       {"identityclaim"},                        // a payout address has the form of a wallet address
		"profile":       {"identityclaim", "message", "operator"}, // uses the rules for profile.update messages and for addresses
		"signal":        {"operator"},                             // a call is filed with an operator's credential
		"clip":          {"livestream", "operator", "stream"},     // operators create clips of live operators
		"federation":    {"identityclaim", "operator", "stream"},  // combines operators, identity claims and streams of stations
		"livestream":    {"ingest", "operator"},                   // live operators have streams
		"moderation":    {"livestream", "operator"},               // operators report content
	},
	"clock": {},
}

// hubEdge is the folder of the handlers of the hub. Each package below it serves one audience, except those that all may import.
const hubEdge = "services/hub/internal/httpapi"

// sharedByAudiences are the packages below hubEdge that the packages of all audiences may import.
var sharedByAudiences = []string{"request", "view"}

// hubModule is the service whose rules use the client of the ledger.
const hubModule = "services/hub"

// testOnly are packages of a service that only tests import. They may import every layer.
var testOnly = map[string]bool{
	"apitest": true, // runs the api in tests of other services
}

// seesJSON lists the packages of a service that may have JSON tags. edge defines the published JSON; the others read the JSON of
// other systems, and program reads the FilterSpec, a JSON text in a query parameter.
var seesJSON = map[string]bool{"httpapi": true, "venue": true, "partner": true, "program": true, "hosting": true}

// pkgMayImport lists the packages that a package of pkg/ may import in addition to apperr, with the reasons.
var pkgMayImport = map[string][]string{
	"outbox":       {"dbtime"},                                                                  // waits between attempts
	"localdb":      {"dbtime"},                                                                  // waits for a server
	"httpcache":    {"cache"},                                                                   // caches pages
	"redisx":       {"breaker"},                                                                 // sends no commands while Redis is unavailable
	"httpx":        {"telemetry", "protocol"},                                                   // uses the request id, and the paths and query parameters of the protocol
	"grpcx":        {"telemetry", "protocol"},                                                   // uses the request id and the comparison of secrets
	"pg":           {"dbtime"},                                                                  // waits for locks of other migrators
	"ratelimit":    {"batch"},                                                                   // sends requests to Redis in batches
	"skill":        {"protocol"},                                                                // uses the types of prices, sides and statuses
	"ledgerclient": {"batch", "grpcx", "telemetry", "protocol"},                                 // uses the queue of calls, the connection and its errors
	"oidc":         {"config"},                                                                  // the secret of a provider is a setting
	"service":      {"dbtime", "config", "grpcx", "telemetry", "pg", "run", "httpx", "version"}, // implements the commands, start and stop of all services
	"telemetry":    {"version"},                                                                 // a metric identifies the build
	"testkit":      {"localdb", "pg", "redisx", "grpcx", "dbtime"},                              // starts the servers to which tests connect
}

// mayReadClock lists the packages of pkg/ that may read the clock. All others receive the time from their caller.
var mayReadClock = map[string]bool{
	"run": true, "dbtime": true, "telemetry": true, "httpx": true, "grpcx": true, "redisx": true,
	"ratelimit": true, "pg": true, "localdb": true, "testkit": true, "ledgerclient": true,
}

// vagueNames lists package names that do not state the purpose of a package.
var vagueNames = map[string]bool{"common": true, "util": true, "utils": true, "helpers": true, "types": true, "models": true}

const (
	maxLines     = 600
	maxMainLines = 50
)
