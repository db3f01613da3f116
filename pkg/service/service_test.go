package service_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/pkg/version"
)

type settings struct {
	Env  config.Env `env:"ENV"`
	Name string     `env:"SERVICE_TEST_NAME"`
}

func (s *settings) Check(r *config.Report) {
	if s.Name == "" {
		r.Fail("SERVICE_TEST_NAME", "is not set")
	}
}

const usage = `usage: oven [serve]      run the service
       oven migrate      bring schema oven up to date
       oven health       exit with 0 if the service at HTTP_ADDR is ready, otherwise with 1
       oven --version    print the version, the commit and the Go version
       oven --help       print this text
       oven bake         bake
`

type process struct{ err error }

func (p process) Run(context.Context) error { return p.err }

func TestMain(t *testing.T) {
	ready := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer ready.Close()
	program := service.Program{
		Name: "oven", Usage: "       oven bake         bake\n", HTTPAddr: strings.TrimPrefix(ready.URL, "http://"),
		Serve: service.Serve(func(_ context.Context, s settings, _ io.Writer, _ *dbtime.Clock) (process, error) {
			if s.Name == "broken" {
				return process{errors.New("the heating is broken")}, nil
			}
			return process{}, nil
		}),
		Commands: map[string]service.Command{
			"bake": service.NoArgs(func(_ context.Context, stdout io.Writer) error {
				_, err := io.WriteString(stdout, "baked\n")
				return err
			}),
		},
	}
	for _, tc := range []struct {
		name, line, env string
		code            int
		out, errs       string
	}{
		{"serve by default", "", "oven", 0, "", ""},
		{"serve", "serve", "oven", 0, "", ""},
		{"a process that fails", "serve", "broken", 1, "", "the heating is broken"},
		{"a setting is missing", "serve", "", 2, "", "SERVICE_TEST_NAME is not set"},
		{"arguments of serve", "serve now", "oven", 2, "", "oven migrate      bring schema oven up to date"},
		{"unknown command", "boil", "oven", 2, "", "unknown command \"boil\"\nusage: oven [serve]"},
		{"unknown command with arguments", "boil eggs", "oven", 2, "", "unknown command \"boil\"\nusage: oven [serve]"},
		{"usage", "--help", "", 0, usage, ""},
		{"usage by the short flag", "-h", "", 0, usage, ""},
		{"own command", "bake", "oven", 0, "baked\n", ""},
		{"arguments of a command without any", "bake bread", "oven", 2, "", "invalid arguments\nusage: oven [serve]"},
		{"settings of migrate are missing", "migrate", "oven", 2, "", "MIGRATE_DATABASE_URL is not set"},
		{"version", "--version", "", 0, "oven " + version.Read().String() + "\n", ""},
		{"healthy at the default address", "health", "oven", 0, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("SERVICE_TEST_NAME", tc.env)
			var out, errs bytes.Buffer
			code := program.Main(t.Context(), strings.Fields(tc.line), &out, &errs)
			if code != tc.code || out.String() != tc.out || !strings.Contains(errs.String(), tc.errs) || tc.errs == "" && errs.Len() > 0 {
				t.Errorf("exit code %d, %q, %q; want %d, %q, %q", code, out.String(), errs.String(), tc.code, tc.out, tc.errs)
			}
		})
	}
}
