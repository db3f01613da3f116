package main

// adapters lists the packages that touch the world, with what of pkg/ each may
// import besides everywhere. Each network face has its own plumbing, and no
// adapter knows another one's.
var adapters = map[string][]string{
	"edge":     {"web", "page", "limit"}, // limits are counted where requests enter
	"rpc":      {"link", "limit"},        // and where a key is verified
	"postgres": {"pg", "lease", "outbox"},
	"relay":    {"kv"},
	"venue":    {"breaker"},
	"hook":     {"safedial"},             // it connects where operators say
	"upstream": {"link", "kv", "outbox"}, // answers are kept in Redis, facts wait in the outbox
	"partner":  {"safedial"},             // it connects where stations say
	"mail":     {},
	"audience": {"kv"},           // who watches is counted in Redis
	"hosting":  {},               // hosts of video, where the operators of this service say
	"origin":   {"web", "limit"}, // files of video, and the face that encoders push to
}

// everywhere may be imported by every part of a service that is no subject; skill is arithmetic, batch a queue, cache memory.
var everywhere = []string{"syntax", "fault", "obs", "skill", "ledgerclient", "batch", "cache"}

// subjectPkg is all that a subject may know of pkg/; skill is arithmetic that the
// ledger and those who check its records have in common. batch and cache do no input or output.
var subjectPkg = []string{"syntax", "fault", "skill", "batch", "cache"}

// subjects lists which subject may know which other one, per service. What is
// not here is forbidden, so that the picture stays a tree one can draw.
var subjects = map[string]map[string][]string{
	"api": {
		"resolve": {"score", "signal", "market"},
		"board":   {"signal", "operator"},
		"record":  {"board", "operator", "signal"}, // a record shows its owner, its calls and where it stands
		"oracle":  {"signal", "operator", "wire"},
		"signal":  {"market"},
		"wire":    {"market"},
		"live":    {"feed"},             // it hands on what the feed defines
		"webhook": {"feed"},             // it is sent to webhooks, too
		"export":  {"signal", "market"}, // a record is made of signals and the quotes of their markets
		"score":   {"market"},           // a scoring price is made of quotes
	},
	"hub": {
		"creation":   {"message", "market", "onair", "operator", "signal", "station"}, // what is signed becomes each of them
		"broadcast":  {"program"},                                                     // it shows what each of them knows
		"grant":      {"caller"},
		"caller":     {"operator"},                     // a caller is an operator with scopes
		"follow":     {"operator"},                     // operators follow operators
		"claim":      {"operator"},                     // an operator claims
		"message":    {"claim"},                        // a payout address is read as a wallet is
		"profile":    {"claim", "message", "operator"}, // the rules of a profile.update, and of an address
		"signal":     {"operator"},                     // a call is filed with an operator's credential
		"clip":       {"operator", "station"},          // operators cut clips, which are on a station's shelf
		"network":    {"claim", "operator", "station"}, // rows are operators, claims link them, and a playlist is a stream
		"onair":      {"operator"},                     // operators are live
		"moderation": {"onair", "operator"},            // operators report
	},
	"clock": {},
}

// forbiddenForSubjects are the doors to the world. A name with a slash at the
// end means everything below it.
var forbiddenForSubjects = []string{
	"net/http", "os", "os/", "database/sql",
	"github.com/labstack/", "google.golang.org/grpc", "google.golang.org/grpc/",
	"google.golang.org/protobuf/", "github.com/jackc/", "github.com/redis/",
}

// hubModule is the service whose transports and rules use the generated messages of the ledger.
const hubModule = "services/hub"

var (
	// protobuf is generated code and its runtime; in the api and the clock only these adapters use it.
	protobuf     = []string{"google.golang.org/protobuf/", prefix + "proto/"}
	seesProtobuf = map[string]bool{"rpc": true, "upstream": true}
	// messages are the generated messages and what one needs to build them.
	messages = []string{"google.golang.org/protobuf/proto", "google.golang.org/protobuf/types/known/", prefix + "proto/"}
	// The machine-readable document is bytes, not protobuf.
	notProtobuf = []string{prefix + "proto/openapi", prefix + "proto/openapi/"}
)

// appSees is what app may name of the things that only adapters use, because it
// opens, registers and closes them.
var appSees = []string{
	prefix + "proto/",                 // registers the generated services
	"github.com/jackc/pgx/v5/pgxpool", // holds the pool that it opened
}

// testOnly are packages of a service that exist for its tests alone: nothing
// but a test imports them, and so they may see what they stand in for.
var testOnly = map[string]bool{
	"memledger": true, // a ledger in memory, behind the real gRPC face
}

// seesRows lists the places outside the postgres adapters where pgx is known.
var seesRows = map[string]bool{
	"pkg/pg":      true, // the pool and the driver's errors
	"pkg/localdb": true, // starts the private database
	"pkg/testkit": true, // makes fresh databases
	"pkg/obs":     true, // traces statements
	"pkg/lease":   true, // locks sessions of the database
}

// seesJSON lists the packages of a service that may carry JSON tags. What we
// publish is defined in edge; the others read what somebody else defined, and
// program holds the FilterSpec, which is JSON text inside a parameter.
var seesJSON = map[string]bool{"edge": true, "venue": true, "partner": true, "program": true, "hosting": true}

// pkgMay lists what a package under pkg/ may import besides fault, and why.
var pkgMay = map[string][]string{
	"page":         {"cache"},                                             // a book is a cache of pages
	"kv":           {"breaker"},                                           // Redis is not asked while it does not answer
	"web":          {"syntax"},                                            // path and query words of the protocol
	"skill":        {"syntax"},                                            // prices, sides and statuses
	"ledgerclient": {"link", "obs", "syntax"},                             // the connection and its faults
	"idp":          {"conf"},                                              // a provider's secret is one of the settings
	"service":      {"chrono", "conf", "link", "obs", "pg", "run", "web"}, // the commands and the life that all services have
	"testkit":      {"localdb", "pg", "kv", "link", "chrono"},             // sets up what the others connect to
}

// seesTime are the packages of pkg/ that run things and so read the time of
// day. Everything else is told the time by its caller.
var seesTime = map[string]bool{
	"run": true, "chrono": true, "obs": true, "web": true, "link": true, "kv": true,
	"limit": true, "pg": true, "localdb": true, "testkit": true, "ledgerclient": true,
}

// vague names gather what belongs elsewhere.
var vague = map[string]bool{"common": true, "util": true, "utils": true, "helpers": true, "types": true, "models": true}

const (
	maxLines     = 600
	maxMainLines = 50
)
