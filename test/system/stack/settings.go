package stack

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Environment variables with which the fault runner changes every system of a test binary.
const (
	settingsEnv = "SYSTEM_SETTINGS" // lines NAME=value; postgres.NAME=value is a setting of Postgres
	sqlEnv      = "SYSTEM_SQL"      // statements that run as the schema owner after the start
	sizeEnv     = "SYSTEM_SIZE"     // full: the sizes of a release
)

// settings are what a system is started with.
type settings struct {
	env      map[string]string // of every process
	postgres []string          // NAME=value
	hubs     int
	bin      string // directory of the programs; empty: built from this tree
}

// Option changes how a system is started.
type Option func(*settings)

// Env sets an environment variable of every process.
func Env(name, value string) Option { return func(s *settings) { s.env[name] = value } }

// Hubs sets the number of hubs, 1 by default.
func Hubs(n int) Option { return func(s *settings) { s.hubs = n } }

// Postgres changes a setting of Postgres, given as NAME=value.
func Postgres(value string) Option {
	return func(s *settings) { s.postgres = append(s.postgres, value) }
}

// ProgramsIn takes the programs from a directory, for example those of another release.
func ProgramsIn(dir string) Option { return func(s *settings) { s.bin = dir } }

// ScoredAtOnce makes every verified call count with its first quote, on markets of any volume and creator.
func ScoredAtOnce() Option {
	return func(s *settings) {
		s.env["QUOTE_CONFIRM_AFTER"], s.env["RATED_MIN_VOLUME_USD"], s.env["MANIFOLD_RATED_CREATORS"] = "off", "0", "*"
	}
}

func settle(opts []Option) settings {
	// Reads may take longer than in production because tests share the machine. The limit is below that of a GET request in the hub.
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

// name returns a text that is equal for equal settings.
func (s settings) name() string {
	var pairs []string
	for name, value := range s.env {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return strings.Join(slices.Concat(pairs, s.postgres, []string{strconv.Itoa(s.hubs), s.bin}), "\n")
}

// Size returns how much a test tries: short under -short, full with SYSTEM_SIZE=full, otherwise usual.
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
