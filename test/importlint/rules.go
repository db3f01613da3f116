package main

// adapters lists the packages with input or output, and the packages of pkg/ that each may import besides those of everywhere.
var adapters = map[string][]string{
	"edge":     {"web", "page", "limit"}, // limits are counted where requests enter
	"rpc":      {"link", "limit"},        // and where a key is verified
	"postgres": {"pg", "lease", "outbox"},
	"relay":    {"kv"},
	"venue":    {"breaker"},
	"hook":     {"safedial"},             // it connects to addresses that operators enter
	"upstream": {"link", "kv", "outbox"}, // answers are cached in Redis, facts are written to the outbox
	"partner":  {"safedial"},             // it connects to addresses that stations enter
	"mail":     {},
	"hosting":  {},               // video hosts that the administrators configure
	"origin":   {"web", "limit"}, // video files, and the server to which encoders push
}

// everywhere lists the packages of pkg/ that every part of a service except a subject may import.
var everywhere = []string{"syntax", "fault", "obs", "skill", "ledgerclient", "batch", "cache", "chrono"}

// subjectPkg lists the packages of pkg/ that every subject may import. None of them does input or output: skill is arithmetic,
// batch a queue in memory, cache a cache in memory, chrono waits.
var subjectPkg = []string{"syntax", "fault", "skill", "batch", "cache", "chrono"}

// subjectMay lists further packages of pkg/ that single subjects may import.
var subjectMay = map[string][]string{
	"caller": {redisClient, "limit"}, // calls and failures are counted over all hubs
	"onair":  {redisClient},          // viewers are counted in Redis
}

// redisClient is the package of pkg/ with the client of Redis. A subject that may import it may import go-redis, too.
const redisClient = "kv"

// subjects lists which other subjects a subject may import, by service. All other imports between subjects are forbidden, so that
// there is no cycle.
var subjects = map[string]map[string][]string{
	"api": {
		"resolve": {"signal", "market"},
		"board":   {"signal", "operator"},
		"record":  {"board", "operator", "signal"}, // a record shows its owner, its calls and its rank
		"oracle":  {"signal", "operator", "wire"},
		"signal":  {"market"},
		"wire":    {"market"},
		"live":    {"feed"},             // it sends events of the feed
		"lane":    {"oracle"},           // words of a title decide: oracle/categorise
		"webhook": {"feed"},             // it sends events of the feed, too
		"export":  {"signal", "market"}, // a record is made of signals and the quotes of their markets
	},
	"hub": {
		"creation":   {"message", "market", "onair", "operator", "signal", "station"}, // what is signed becomes each of them
		"broadcast":  {"onair", "program"},                                            // it shows what each of them knows
		"grant":      {"caller"},
		"caller":     {"operator"},                     // a caller is an operator with scopes
		"follow":     {"operator"},                     // operators follow operators
		"claim":      {"operator"},                     // an operator claims
		"message":    {"claim"},                        // a payout address is read as a wallet is
		"profile":    {"claim", "message", "operator"}, // the rules of a profile.update, and of an address
		"signal":     {"operator"},                     // a call is filed with an operator's credential
		"clip":       {"onair", "operator", "station"}, // operators cut clips of live operators for a station
		"network":    {"claim", "operator", "station"}, // rows are operators, claims link them, and a playlist is a stream
		"onair":      {"ingest", "operator"},           // operators are live with their streams
		"moderation": {"onair", "operator"},            // operators report
	},
	"clock": {},
}

// forbiddenForSubjects are packages with input or output. A path with a slash at the end stands for all packages below it.
var forbiddenForSubjects = []string{
	"net/http", "os", "os/", "database/sql",
	"github.com/labstack/", "google.golang.org/grpc", "google.golang.org/grpc/",
	"google.golang.org/protobuf/", "github.com/jackc/", "github.com/redis/",
}

// hubEdge is the folder of the handlers of the hub. Each package below it serves one audience, except those that all may import.
const hubEdge = "services/hub/internal/edge"

// sharedByAudiences are the packages below hubEdge that all audiences may import.
var sharedByAudiences = []string{"request", "view"}

// hubModule is the service whose transports and rules use the generated messages of the ledger.
const hubModule = "services/hub"

var (
	// protobuf is generated code and its runtime; in the api and the clock only these adapters use it.
	protobuf     = []string{"google.golang.org/protobuf/", prefix + "proto/"}
	seesProtobuf = map[string]bool{"rpc": true, "upstream": true}
	// messages are the generated messages and the packages that are needed to build them.
	messages = []string{"google.golang.org/protobuf/proto", "google.golang.org/protobuf/types/known/", prefix + "proto/"}
	// The machine-readable document is bytes, not protobuf.
	notProtobuf = []string{prefix + "proto/openapi", prefix + "proto/openapi/"}
)

// appSees lists packages for adapters that app may import, because it opens, registers and closes what they define.
var appSees = []string{
	prefix + "proto/",                 // registers the generated services
	"github.com/jackc/pgx/v5/pgxpool", // holds the pool that it opened
}

// testOnly are packages of a service that only tests import. They may import every layer.
var testOnly = map[string]bool{
	"apitest": true, // the api, for tests of other services
}

// seesRows lists the packages besides the postgres adapters that may import pgx.
var seesRows = map[string]bool{
	"pkg/pg":      true, // the pool and the driver's errors
	"pkg/localdb": true, // starts the private database
	"pkg/testkit": true, // makes fresh databases
	"pkg/obs":     true, // traces statements
	"pkg/lease":   true, // takes advisory locks of a database session
}

// seesJSON lists the packages of a service that may have JSON tags. edge defines the published JSON; the others read the JSON of
// other systems, and program reads the FilterSpec, a JSON text in a query parameter.
var seesJSON = map[string]bool{"edge": true, "venue": true, "partner": true, "program": true, "hosting": true}

// pkgMay lists what a package under pkg/ may import besides fault, and why.
var pkgMay = map[string][]string{
	"outbox":       {"chrono"},                                            // waits between attempts
	"localdb":      {"chrono"},                                            // waits for a server
	"page":         {"cache"},                                             // page.Book is a cache of pages
	"kv":           {"breaker"},                                           // no command is sent while Redis is unavailable
	"web":          {"obs", "syntax"},                                     // the request id; path and query words of the protocol
	"link":         {"obs", "syntax"},                                     // the request id, and the comparison of secrets
	"pg":           {"chrono"},                                            // waits for locks of other migrators
	"limit":        {"batch"},                                             // questions to Redis are sent together
	"skill":        {"syntax"},                                            // prices, sides and statuses
	"ledgerclient": {"batch", "link", "obs", "syntax"},                    // the queue of calls, the connection and its faults
	"idp":          {"conf"},                                              // a provider's secret is one of the settings
	"service":      {"chrono", "conf", "link", "obs", "pg", "run", "web"}, // the commands and the life that all services have
	"testkit":      {"localdb", "pg", "kv", "link", "chrono"},             // sets up what the others connect to
}

// seesTime lists the packages of pkg/ that may read the time of day. All others receive the time from their caller.
var seesTime = map[string]bool{
	"run": true, "chrono": true, "obs": true, "web": true, "link": true, "kv": true,
	"limit": true, "pg": true, "localdb": true, "testkit": true, "ledgerclient": true,
}

// vague lists package names that do not say what a package does.
var vague = map[string]bool{"common": true, "util": true, "utils": true, "helpers": true, "types": true, "models": true}

const (
	maxLines     = 600
	maxMainLines = 50
)
