package main

// adapters lists the packages of a service that do input or output. Each may import the listed packages of pkg/ and those of the
// variable everywhere.
var adapters = map[string][]string{
	"httpapi":  {"httpx", "httpcache", "ratelimit", "reader"}, // limits are counted where requests enter
	"grpcapi":  {"grpcx", "ratelimit"},                        // and where a key is verified
	"postgres": {"pg", "lease", "outbox"},
	"relay":    {"redisx"},
	"venue":    {"breaker"},
	"delivery": {"safedial"},                            // it connects to addresses that operators enter
	"upstream": {"grpcx", "redisx", "outbox", "reader"}, // responses are cached in Redis, facts are written to the outbox
	"partner":  {"safedial"},                            // it connects to addresses that stations enter
	"mail":     {},
	"push":     {"safedial"},           // it connects to addresses that browsers send
	"download": {"safedial"},           // it connects to addresses that operators enter
	"hosting":  {},                     // video hosts that the administrators configure
	"hls":      {"httpx", "ratelimit"}, // video files, and the server to which encoders push
}

// everywhere lists the packages of pkg/ that all packages of a service except its subjects may import.
var everywhere = []string{"protocol", "apperr", "telemetry", "skill", "ledgerclient", "batch", "cache", "dbtime"}

// subjectPkg lists the packages of pkg/ that every subject may import. A package in this list must not do network or file I/O.
var subjectPkg = []string{"protocol", "apperr", "skill", "batch", "cache", "dbtime"}

// subjectMay lists, by subject, the packages of pkg/ that the subject may import in addition to subjectPkg.
var subjectMay = map[string][]string{
	"caller":     {redisClient, "ratelimit"}, // calls and failures are counted over all hubs
	"livestream": {redisClient},              // viewers are counted in Redis
}

// redisClient is the name of the Redis client package of pkg/.
const redisClient = "redisx"

// subjects lists, for each service and each of its subjects, the other subjects that it may import. All other imports between
// subjects are forbidden, so that there are no cycles.
var subjects = map[string]map[string][]string{
	"api": {
		"resolution": {"signal", "market"},
		"board":      {"signal", "operator"},
		"record":     {"board", "operator", "signal"}, // a record shows its owner, its calls and its rank
		"attention":  {"signal", "operator", "movement"},
		"signal":     {"market"},
		"movement":   {"market"},
		"broker":     {"feed"},             // it sends events of the feed
		"lane":       {"attention"},        // oracle/categorise decides by the words of a title
		"webhook":    {"feed"},             // it also sends events of the feed
		"export":     {"signal", "market"}, // a record is made of signals and the quotes of their markets
	},
	"hub": {
		"effect":        {"message", "market", "livestream", "operator", "profile", "signal", "stream"}, // a signed message acts on them
		"broadcast":     {"livestream", "program", "record"},                                            // it shows data of all three
		"account":       {"operator", "notification"},                                                   // an account belongs to an operator; its deletion is a notification
		"grant":         {"caller"},
		"caller":        {"operator"},                                             // a caller is an operator with scopes
		"email":         {"notification", "operator"},                             // letters have notifications
		"follow":        {"operator"},                                             // operators follow operators
		"identityclaim": {"operator"},                                             // a claim belongs to an operator
		"message":       {"identityclaim"},                                        // a payout address is parsed like a wallet address
		"picture":       {"operator"},                                             // operators have pictures
		"profile":       {"identityclaim", "message", "notification", "operator"}, // rules for profile.update messages and for addresses
		"signal":        {"operator"},                                             // a call is filed with an operator's credential
		"clip":          {"ingest", "livestream", "operator", "stream"},           // operators cut clips of live operators for a station
		"federation":    {"identityclaim", "operator", "stream"},                  // operators of partners, links by claims, and streams as playlists
		"livestream":    {"ingest", "operator"},                                   // operators are live with their streams
		"moderation":    {"livestream", "notification", "operator"},               // operators send reports and are notified of hidden texts
		"notification":  {"operator"},                                             // operators are notified
		"watch":         {"operator"},                                             // operators watch markets
	},
	"clock": {},
}

// hubEdge is the folder of the HTTP handlers of the hub. Each package below it serves one audience, except the packages in
// sharedByAudiences.
const hubEdge = "services/hub/internal/httpapi"

// sharedByAudiences lists the packages below hubEdge that the packages of all audiences may import.
var sharedByAudiences = []string{"request", "view"}

// hubModule is the module of the service hub. Of all subjects, only those of the hub may import the client of the ledger.
const hubModule = "services/hub"

// testOnly lists packages of a service that only tests import. They may import packages of every layer.
var testOnly = map[string]bool{
	"apitest": true, // the api, for tests of other services
}

// seesJSON lists the packages of a service that may use JSON tags. httpapi defines the published JSON, and program reads the
// FilterSpec, a JSON text in a query parameter. The others read JSON of other systems.
var seesJSON = map[string]bool{"httpapi": true, "venue": true, "partner": true, "program": true, "hosting": true}

// pkgMay lists, for each package under pkg/, the other packages under pkg/ that it may import.
var pkgMay = map[string][]string{
	"outbox":       {"dbtime"},                                                                  // waits between attempts
	"localdb":      {"dbtime"},                                                                  // waits for a server to start
	"httpcache":    {"cache", "redisx", "dbtime"},                                               // cached pages are cache entries, in this process and in Redis
	"redisx":       {"breaker"},                                                                 // no command is sent while Redis is unavailable
	"httpx":        {"telemetry", "protocol"},                                                   // the request id, and path and query formats of the protocol
	"grpcx":        {"telemetry", "protocol"},                                                   // the request id, and the comparison of secrets
	"pg":           {"dbtime"},                                                                  // waits for locks of other migrators
	"reader":       {"cache", "protocol", "ratelimit"},                                          // verified credentials and their limits
	"ratelimit":    {"batch", "redisx"},                                                         // requests to Redis are sent in batches
	"skill":        {"protocol"},                                                                // prices, sides and statuses
	"ledgerclient": {"batch", "grpcx", "telemetry", "protocol"},                                 // the queue of calls, the connection and its errors
	"oidc":         {"config"},                                                                  // the secret of a provider is a setting
	"service":      {"dbtime", "config", "grpcx", "telemetry", "pg", "run", "httpx", "version"}, // commands and life cycle that all services have in common
	"telemetry":    {"version"},                                                                 // a metric identifies the build
	"testkit":      {"localdb", "pg", "redisx", "grpcx", "dbtime"},                              // starts the servers to which the other packages connect
}

// seesTime lists the packages of pkg/ that may read the time of day. All other packages of pkg/ receive the time from their
// caller.
var seesTime = map[string]bool{
	"run": true, "dbtime": true, "telemetry": true, "httpx": true, "grpcx": true, "redisx": true,
	"ratelimit": true, "pg": true, "localdb": true, "testkit": true, "ledgerclient": true,
}

// vague lists package names that are forbidden because they do not say what a package does.
var vague = map[string]bool{"common": true, "util": true, "utils": true, "helpers": true, "types": true, "models": true}

const (
	maxLines     = 600
	maxMainLines = 50
)
