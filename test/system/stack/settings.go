package stack

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Environment variables of a test binary. They change the systems that its tests start, and the sizes of the tests. Fault tests
// set the first two.
const (
	settingsEnv = "SYSTEM_SETTINGS" // lines NAME=value; postgres.NAME=value changes a setting of Postgres
	sqlEnv      = "SYSTEM_SQL"      // SQL statements that the schema owner executes after the start
	sizeEnv     = "SYSTEM_SIZE"     // "full" selects the test sizes of a release
)

// settings contains the parameters with which a system is started.
type settings struct {
	env      map[string]string // environment variables of all processes
	postgres []string          // settings of Postgres as NAME=value
	hubs     int
	bin      string // directory of the programs; empty if they are built from this tree
}

// Option changes one setting with which a system is started.
type Option func(*settings)

// Env returns an Option that sets an environment variable of all processes.
func Env(name, value string) Option { return func(s *settings) { s.env[name] = value } }

// Hubs returns an Option that sets the number of hubs. The default is 1.
func Hubs(n int) Option { return func(s *settings) { s.hubs = n } }

// Postgres returns an Option that changes a setting of Postgres. value has the form NAME=value.
func Postgres(value string) Option {
	return func(s *settings) { s.postgres = append(s.postgres, value) }
}

// ProgramsIn returns an Option that sets the directory of the programs, for example the programs of another release.
func ProgramsIn(dir string) Option { return func(s *settings) { s.bin = dir } }

// ScoredAtOnce returns an Option that lets verified calls count without a second quote, on markets of any volume and of any
// creator.
func ScoredAtOnce() Option {
	return func(s *settings) {
		s.env["QUOTE_CONFIRM_AFTER"], s.env["RATED_MIN_VOLUME_USD"], s.env["MANIFOLD_RATED_CREATORS"] = "off", "0", "*"
	}
}

func newSettings(opts []Option) settings {
	// Reads may take longer than in production, because tests share the machine. The limit is below the limit of a GET
	// request in the hub.
	s := settings{env: map[string]string{"DB_READ_TIMEOUT": "700ms"}, hubs: 1}
	for _, o := range opts {
		o(&s)
	}
	for line := range strings.Lines(os.Getenv(settingsEnv)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if setting, isPostgres := strings.CutPrefix(name, "postgres."); isPostgres {
			s.postgres = append(s.postgres, setting+"="+value)
		} else if ok {
			s.env[name] = value
		}
	}
	return s
}

// name returns a text that identifies the settings. Equal settings have the same text.
func (s settings) name() string {
	var pairs []string
	for name, value := range s.env {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return strings.Join(slices.Concat(pairs, s.postgres, []string{strconv.Itoa(s.hubs), s.bin}), "\n")
}

// Size returns one of three sizes of a test, for example its number of requests: short with the flag -short, full with
// SYSTEM_SIZE=full, and otherwise usual.
func Size(t testing.TB, short, usual, full int) int {
	t.Helper()
	switch {
	case testing.Short():
		return short
	case os.Getenv(sizeEnv) == "full":
		return full
	}
	return usual
}
