package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
)

type limits struct {
	Anon int `env:"RATE_LIMIT_ANON" envDefault:"600"`
}

func (l *limits) Check(r *config.Report) { r.Between("RATE_LIMIT_ANON", l.Anon, 0, 1_000_000) }

type settings struct {
	Env      config.Env      `env:"ENV"`
	HTTP     string          `env:"HTTP_ADDR" envDefault:"127.0.0.1:8080"`
	Metrics  string          `env:"METRICS_ADDR"`
	Database config.Secret   `env:"DATABASE_URL"`
	Link     config.Secret   `env:"LINK_SECRET"`
	Admin    config.Secret   `env:"ADMIN_SECRET"`
	Sessions []config.Secret `env:"SESSION_SECRETS"`
	Hub      string          `env:"HUB_URL"`
	Login    string          `env:"IDP_LOGIN_URL"`
	Grace    time.Duration   `env:"RESOLUTION_GRACE" envDefault:"10m"`
	Strict   bool            `env:"PAST_END_IS_PROVISIONAL" envDefault:"true"`
	Proxies  []netip.Prefix  `env:"TRUSTED_PROXIES"`
	Source   string          `env:"SOCIAL_SOURCE" envDefault:"farcaster"`
	Limits   limits
}

func (c *settings) Check(r *config.Report) {
	r.Addr("HTTP_ADDR", c.HTTP)
	r.PrivateAddr("METRICS_ADDR", c.Metrics)
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
	r.Secret("LINK_SECRET", c.Link)
	r.OptSecret("ADMIN_SECRET", c.Admin)
	r.Secrets("SESSION_SECRETS", c.Sessions)
	r.PublicURL("HUB_URL", c.Hub)
	r.OptURL("IDP_LOGIN_URL", c.Login, "https", "http")
	r.Proxies("TRUSTED_PROXIES", c.Proxies)
	r.OneOf("SOCIAL_SOURCE", c.Source, "farcaster", "lens")
}

const (
	secretA = "q8Zs2Lr0vXn5Tb7Wd1Ye4Uf6Ig9Oh3Pj"
	secretB = "m1Nc2Bv3Xz4Lk5Jh6Gf7Ds8Ap9Oi0UyT"
	secretC = "z9Yx8Wv7Ut6Sr5Qp4On3Ml2Kj1Ih0GfE"
)

func validEnviron() map[string]string {
	return map[string]string{
		"ENV": "production", "DATABASE_URL": "postgres://api_rw:pw@db/sc", "LINK_SECRET": secretA,
		"SESSION_SECRETS": secretB + "," + secretC, "HUB_URL": "https://hub.example",
		"METRICS_ADDR": "127.0.0.1:9090", "TRUSTED_PROXIES": "10.0.0.0/8,fd00::/8",
		"UNKNOWN_NAME": "is ignored",
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	c, err := config.LoadFrom[settings](validEnviron())
	if err != nil {
		t.Fatal(err)
	}
	if !c.Env.Production() || !c.Env.SecureCookies() || c.HTTP != "127.0.0.1:8080" || c.Grace != 10*time.Minute || !c.Strict ||
		len(c.Sessions) != 2 || c.Sessions[1].Reveal() != secretC || len(c.Proxies) != 2 || c.Limits.Anon != 600 {
		t.Errorf("wrong settings: %+v", c)
	}
}

// TestInvalid loads configurations that must be rejected. Each error must name the setting and must not contain its
// value.
func TestInvalid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  map[string]string
		want string
	}{
		"empty secret":          {map[string]string{"LINK_SECRET": ""}, "LINK_SECRET is not set"},
		"short secret":          {map[string]string{"LINK_SECRET": secretA[:31]}, "LINK_SECRET must have at least 32 bytes"},
		"simple secret":         {map[string]string{"LINK_SECRET": strings.Repeat("ab", 20)}, "LINK_SECRET must have at least 8 different bytes"},
		"example secret":        {map[string]string{"LINK_SECRET": "CHANGEME-0123456789-abcdefghijklm"}, "LINK_SECRET is an example"},
		"padded secret":         {map[string]string{"LINK_SECRET": secretA + " "}, "LINK_SECRET begins or ends"},
		"same secret twice":     {map[string]string{"ADMIN_SECRET": secretA}, "LINK_SECRET and ADMIN_SECRET are the same"},
		"same session secret":   {map[string]string{"SESSION_SECRETS": secretB + "," + secretB}, "SESSION_SECRETS[0] and SESSION_SECRETS[1] are the same"},
		"no session secret":     {map[string]string{"SESSION_SECRETS": ""}, "SESSION_SECRETS is not set"},
		"one empty session":     {map[string]string{"SESSION_SECRETS": secretB + ","}, "SESSION_SECRETS[1] is not set"},
		"plain public base":     {map[string]string{"HUB_URL": "http://hub.example"}, "HUB_URL must be a URL that begins with https://"},
		"base with path":        {map[string]string{"HUB_URL": "https://hub.example/x"}, "HUB_URL must be a base URL"},
		"base with password":    {map[string]string{"HUB_URL": "https://user:CANARY@hub.example"}, "HUB_URL must not contain a user"},
		"base without a host":   {map[string]string{"HUB_URL": "https://:8443"}, "HUB_URL must have a host name"},
		"base with a final dot": {map[string]string{"HUB_URL": "https://hub.example."}, "HUB_URL must have a host name"},
		"no base":               {map[string]string{"HUB_URL": ""}, "HUB_URL is not set"},
		"relative login":        {map[string]string{"IDP_LOGIN_URL": "/login"}, "IDP_LOGIN_URL must be a URL"},
		"debug on all IPv4":     {map[string]string{"METRICS_ADDR": "0.0.0.0:9090"}, "METRICS_ADDR must not listen on every interface"},
		"debug on all IPv6":     {map[string]string{"METRICS_ADDR": "[::]:9090"}, "METRICS_ADDR must not listen"},
		"debug without host":    {map[string]string{"METRICS_ADDR": ":9090"}, "METRICS_ADDR must not listen"},
		"debug on public IPv4":  {map[string]string{"METRICS_ADDR": "8.8.8.8:9090"}, "METRICS_ADDR must be a private, loopback or link-local address; 8.8.8.8 is public"},
		"debug on public IPv6":  {map[string]string{"METRICS_ADDR": "[2001:4860:4860::8888]:9090"}, "METRICS_ADDR must be a private"},
		"debug on a mapped one": {map[string]string{"METRICS_ADDR": "[::ffff:8.8.8.8]:9090"}, "METRICS_ADDR must be a private"},
		"debug next to private": {map[string]string{"METRICS_ADDR": "172.32.0.1:9090"}, "METRICS_ADDR must be a private"},
		"no port":               {map[string]string{"HTTP_ADDR": "127.0.0.1"}, "HTTP_ADDR must be host:port"},
		"large port":            {map[string]string{"HTTP_ADDR": "127.0.0.1:65536"}, "HTTP_ADDR must be host:port"},
		"no database":           {map[string]string{"DATABASE_URL": ""}, "DATABASE_URL is not set"},
		"other database":        {map[string]string{"DATABASE_URL": "mysql://u:CANARY@db/sc"}, "DATABASE_URL must be a URL"},
		"bad environment":       {map[string]string{"ENV": "prod"}, "ENV must be one of"},
		"bad duration":          {map[string]string{"RESOLUTION_GRACE": "10CANARY"}, "RESOLUTION_GRACE is not a valid duration"},
		"bad truth value":       {map[string]string{"PAST_END_IS_PROVISIONAL": "CANARY"}, "PAST_END_IS_PROVISIONAL is not a valid truth"},
		"bad number":            {map[string]string{"RATE_LIMIT_ANON": "CANARY"}, "RATE_LIMIT_ANON is not a valid integer"},
		"number out of bounds":  {map[string]string{"RATE_LIMIT_ANON": "-1"}, "RATE_LIMIT_ANON must be from 0"},
		"bad proxies":           {map[string]string{"TRUSTED_PROXIES": "10.0.0.0/8,CANARY"}, "TRUSTED_PROXIES is not a valid list of CIDR"},
		"every proxy":           {map[string]string{"TRUSTED_PROXIES": "10.0.0.0/8,0.0.0.0/0"}, "TRUSTED_PROXIES must not contain a range"},
		"unknown word":          {map[string]string{"SOCIAL_SOURCE": "CANARY"}, "SOCIAL_SOURCE must be one of"},
		"value and file":        {map[string]string{"LINK_SECRET_FILE": "/CANARY"}, "LINK_SECRET and LINK_SECRET_FILE are both set"},
		"file is missing":       {map[string]string{"ADMIN_SECRET_FILE": "/nowhere/CANARY"}, "ADMIN_SECRET_FILE names a file that cannot be read"},
	} {
		environ := validEnviron()
		maps.Copy(environ, c.set)
		_, err := config.LoadFrom[settings](environ)
		if err == nil {
			t.Errorf("%s: the configuration was accepted", name)
			continue
		}
		text := err.Error()
		if !strings.HasPrefix(text, c.want) || strings.Contains(text, "\n") {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
		for _, value := range c.set {
			if len(value) > 5 && strings.Contains(text, value) || strings.Contains(text, "CANARY") {
				t.Errorf("%s: the error contains the value: %q", name, text)
			}
		}
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.LoadFrom[settings](map[string]string{"RESOLUTION_GRACE": "x", "RATE_LIMIT_ANON": "y"})
	want := []string{
		"DATABASE_URL is not set", "HUB_URL is not set", "LINK_SECRET is not set", "RATE_LIMIT_ANON is not a valid integer",
		"RESOLUTION_GRACE is not a valid duration (like 30s)", "SESSION_SECRETS is not set",
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestDevelopmentAllowsHTTPAndExamples(t *testing.T) {
	t.Parallel()
	environ := validEnviron()
	maps.Copy(environ, map[string]string{"ENV": "development", "HUB_URL": "http://127.0.0.1:8080/", "LINK_SECRET": "development-link-secret-0123456789"})
	c, err := config.LoadFrom[settings](environ)
	if err != nil || c.Env.SecureCookies() {
		t.Error(err)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secretA+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := validEnviron()
	delete(environ, "LINK_SECRET")
	environ["LINK_SECRET_FILE"] = path
	c, err := config.LoadFrom[settings](environ)
	if err != nil || c.Link.Reveal() != secretA {
		t.Errorf("secret from a file: error %v", err)
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	environ["LINK_SECRET_FILE"] = large
	if _, err := config.LoadFrom[settings](environ); err == nil {
		t.Error("a file of 1 MiB was read")
	}
}

func TestLoadReadsTheProcess(t *testing.T) {
	t.Setenv("RATE_LIMIT_ANON", "7")
	c, err := config.Load[limits]()
	if err != nil || c.Anon != 7 {
		t.Errorf("settings %+v, error %v; want Anon 7", c, err)
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	s := config.NewSecret("CANARY")
	type holder struct {
		Open   config.Secret
		hidden config.Secret
	}
	h := holder{s, s}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "holder", h, "pointer", &s)
	js, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x", s, s, s, s, s, s), fmt.Sprintf("%v %+v %#v", h, h, h),
		fmt.Sprintf("%v %+v", &h, []config.Secret{s}), log.String(), string(js),
	} {
		if strings.Contains(text, "CANARY") || strings.Contains(text, fmt.Sprintf("%x", "CANARY")) {
			t.Errorf("the secret was printed: %s", text)
		}
	}
	if s.Reveal() != "CANARY" || (config.Secret{}).IsSet() || (config.Secret{}).String() != "" || h.hidden.Reveal() != "CANARY" {
		t.Error("Reveal, IsSet or String of a set or unset secret is wrong")
	}
}

func TestUnsetEnvironmentMeansProduction(t *testing.T) {
	t.Parallel()
	type settings struct {
		Env config.Env `env:"ENV"`
	}
	for value, production := range map[string]bool{"": true, "production": true, "development": false, "test": false} {
		environ := map[string]string{"ENV": value}
		if value == "" {
			environ = nil
		}
		cfg, err := config.LoadFrom[settings](environ)
		if err != nil || cfg.Env.Production() != production || cfg.Env.SecureCookies() != production {
			t.Errorf("ENV=%q: production %t, secure cookies %t, %v", value, cfg.Env.Production(), cfg.Env.SecureCookies(), err)
		}
	}
}
