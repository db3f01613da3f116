package main

// adapters lists the packages with input or output, and the packages of pkg/ that each may import besides those of everywhere.
var adapters = map[string][]string{
	"httpapi":  {"httpx", "httpcache", "ratelimit"}, // limits are counted where requests enter
	"grpcapi":  {"grpcx", "ratelimit"},              // and where a key is verified
	"postgres": {"pg", "lease", "outbox"},
	"relay":    {"redisx"},
	"venue":    {"breaker"},
	"delivery": {"safedial"},                  // it connects to addresses that operators enter
	"upstream": {"grpcx", "redisx", "outbox"}, // answers are cached in Redis, facts are written to the outbox
	"partner":  {"safedial"},                  // it connects to addresses that stations enter
	"mail":     {},
	"hosting":  {},                     // video hosts that the administrators configure
	"hls":      {"httpx", "ratelimit"}, // video files, and the server to which encoders push
}

// everywhere lists the packages of pkg/ that every part of a service except a subject may import.
var everywhere = []string{"protocol", "apperr", "telemetry", "skill", "ledgerclient", "batch", "cache", "dbtime"}

// subjectPkg lists the packages of pkg/ that every subject may import. None of them does input or output: skill is arithmetic,
// batch a queue in memory, cache a cache in memory, chrono waits.
var subjectPkg = []string{"protocol", "apperr", "skill", "batch", "cache", "dbtime"}

// subjectMay lists further packages of pkg/ that single subjects may import.
var subjectMay = map[string][]string{
	"caller":     {redisClient, "ratelimit"}, // calls and failures are counted over all hubs
	"livestream": {redisClient},              // viewers are counted in Redis
}

// redisClient is the package of pkg/ with the client of Redis.
const redisClient = "redisx"

// subjects lists which other subjects a subject may import, by service. All other imports between subjects are forbidden, so that
// there is no cycle.
var subjects = map[string]map[string][]string{
	"api": {
		"resolution": {"signal", "market"},
		"board":      {"signal", "operator"},
		"record":     {"board", "operator", "signal"}, // a record shows its owner, its calls and its rank
		"attention":  {"signal", "operator", "movement"},
		"signal":     {"market"},
		"movement":   {"market"},
		"broker":     {"feed"},             // it sends events of the feed
		"lane":       {"attention"},        // words of a title decide: oracle/categorise
		"webhook":    {"feed"},             // it sends events of the feed, too
		"export":     {"signal", "market"}, // a record is made of signals and the quotes of their markets
	},
	"hub": {
		"effect":        {"message", "market", "livestream", "operator", "signal", "stream"}, // what is signed becomes each of them
		"broadcast":     {"livestream", "program"},                                           // it shows what each of them knows
		"grant":         {"caller"},
		"caller":        {"operator"},                             // a caller is an operator with scopes
		"follow":        {"operator"},                             // operators follow operators
		"identityclaim": {"operator"},                             // an operator claims
		"message":       {"identityclaim"},                        // a payout address is read as a wallet is
		"profile":       {"identityclaim", "message", "operator"}, // the rules of a profile.update, and of an address
		"signal":        {"operator"},                             // a call is filed with an operator's credential
		"clip":          {"livestream", "operator", "stream"},     // operators cut clips of live operators for a station
		"federation":    {"identityclaim", "operator", "stream"},  // rows are operators, claims link them, and a playlist is a stream
		"livestream":    {"ingest", "operator"},                   // operators are live with their streams
		"moderation":    {"livestream", "operator"},               // operators report
	},
	"clock": {},
}

// hubEdge is the folder of the handlers of the hub. Each package below it serves one audience, except those that all may import.
const hubEdge = "services/hub/internal/httpapi"

// sharedByAudiences are the packages below hubEdge that all audiences may import.
var sharedByAudiences = []string{"request", "view"}

// hubModule is the service whose rules use the client of the ledger.
const hubModule = "services/hub"

// testOnly are packages of a service that only tests import. They may import every layer.
var testOnly = map[string]bool{
	"apitest": true, // the api, for tests of other services
}

// seesJSON lists the packages of a service that may have JSON tags. edge defines the published JSON; the others read the JSON of
// other systems, and program reads the FilterSpec, a JSON text in a query parameter.
var seesJSON = map[string]bool{"httpapi": true, "venue": true, "partner": true, "program": true, "hosting": true}

// pkgMay lists what a package under pkg/ may import besides fault, and why.
var pkgMay = map[string][]string{
	"outbox":       {"dbtime"},                                                                  // waits between attempts
	"localdb":      {"dbtime"},                                                                  // waits for a server
	"httpcache":    {"cache"},                                                                   // page.Book is a cache of pages
	"redisx":       {"breaker"},                                                                 // no command is sent while Redis is unavailable
	"httpx":        {"telemetry", "protocol"},                                                   // the request id; path and query words of the protocol
	"grpcx":        {"telemetry", "protocol"},                                                   // the request id, and the comparison of secrets
	"pg":           {"dbtime"},                                                                  // waits for locks of other migrators
	"ratelimit":    {"batch"},                                                                   // questions to Redis are sent together
	"skill":        {"protocol"},                                                                // prices, sides and statuses
	"ledgerclient": {"batch", "grpcx", "telemetry", "protocol"},                                 // the queue of calls, the connection and its faults
	"oidc":         {"config"},                                                                  // a provider's secret is one of the settings
	"service":      {"dbtime", "config", "grpcx", "telemetry", "pg", "run", "httpx", "version"}, // the commands and the life that all services have
	"telemetry":    {"version"},                                                                 // a metric identifies the build
	"testkit":      {"localdb", "pg", "redisx", "grpcx", "dbtime"},                              // sets up what the others connect to
}

// seesTime lists the packages of pkg/ that may read the time of day. All others receive the time from their caller.
var seesTime = map[string]bool{
	"run": true, "dbtime": true, "telemetry": true, "httpx": true, "grpcx": true, "redisx": true,
	"ratelimit": true, "pg": true, "localdb": true, "testkit": true, "ledgerclient": true,
}

// vague lists package names that do not say what a package does.
var vague = map[string]bool{"common": true, "util": true, "utils": true, "helpers": true, "types": true, "models": true}

const (
	maxLines     = 600
	maxMainLines = 50
)
