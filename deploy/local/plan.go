package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// program describes how to start one process of the stack.
type program struct {
	name   string            // hub, hub-2, api, ...
	binary string            // file name in the directory of the binaries
	http   string            // host:port
	env    map[string]string // added to the environment of the launcher
	probe  string            // path that answers 200 when the program is ready
}

func (p program) base() string { return "http://" + p.http }

// inputs contains the values from which makePlan derives the programs.
type inputs struct {
	state    *state
	secrets  secrets
	ports    map[string]int
	hubs     int
	nonce    string
	redis    string
	database func(role string) (string, error) // URL of the database with a role
}

// portNames returns the names of all listeners of a stack with this number of hubs.
func portNames(hubs int) []string {
	names := []string{"hub", "api", "clock", "api.grpc", "clock.grpc", "hub.metrics", "api.metrics", "clock.metrics", "venues", "idp", "origin"}
	for i := 2; i <= hubs; i++ {
		names = append(names, hubName(i), hubName(i)+".metrics")
	}
	return names
}

// hubName returns the name of the i-th hub: hub, hub-2, hub-3 and so on.
func hubName(i int) string {
	if i == 1 {
		return "hub"
	}
	return "hub-" + strconv.Itoa(i)
}

func (in inputs) addr(name string) string { return "127.0.0.1:" + strconv.Itoa(in.ports[name]) }
func (in inputs) url(name string) string  { return "http://" + in.addr(name) }

// setting returns the value of the launcher's environment variable with the given name, or value if the variable is not set.
func (in inputs) setting(name, value string) string {
	if own, ok := os.LookupEnv(name); ok {
		return own
	}
	return value
}

// makePlan returns the programs of a stack in the order in which they start.
func makePlan(in inputs) ([]program, error) {
	programs := []program{
		{name: "venues", binary: "venuesim", http: in.addr("venues"), probe: "/healthz", env: map[string]string{
			"HTTP_ADDR": in.addr("venues"), "ENV": "development",
		}},
		{name: "idp", binary: "devidp", http: in.addr("idp"), probe: "/healthz", env: map[string]string{
			"HTTP_ADDR": in.addr("idp"), "ENV": "development", "IDP_STATE_DIR": in.state.path("idp"),
			"PUBLIC_URL": in.url("idp"), "RETURN_TO": in.url("hub"), "IDP_AUDIENCE": audience,
		}},
	}
	for _, make := range []func() (program, error){in.api, in.clock} {
		prog, err := make()
		if err != nil {
			return nil, err
		}
		programs = append(programs, prog)
	}
	for i := 1; i <= in.hubs; i++ {
		prog, err := in.hub(hubName(i))
		if err != nil {
			return nil, err
		}
		programs = append(programs, prog)
	}
	return programs, nil
}

// service returns the program of a service with the settings that all three services share. The parameter name is the name of
// the process. The parameter schema is the name of the database schema and of the binary.
func (in inputs) service(name, schema string) (program, error) {
	database, err := in.database(schema + "_rw")
	if err != nil {
		return program{}, err
	}
	env := map[string]string{
		"ENV":       "development",
		"HTTP_ADDR": in.addr(name), "METRICS_ADDR": in.addr(name + ".metrics"),
		"DATABASE_URL": database, "REDIS_URL": in.redis, "LINK_SECRET": in.secrets.Link,
		"HUB_URL": in.url("hub"), "API_URL": in.url("api"), "CLOCK_URL": in.url("clock"), "API_ADDR": in.addr("api.grpc"),
		"REPLICAS": "1", "INSTANCE_NONCE": in.nonce,
		"RATE_LIMIT_ANON": in.setting("RATE_LIMIT_ANON", "600"), "LOG_LEVEL": in.setting("LOG_LEVEL", "info"),
	}
	return program{name: name, binary: schema, http: in.addr(name), env: env, probe: "/readyz"}, nil
}

func (in inputs) api() (program, error) {
	p, err := in.service("api", "api")
	if err != nil {
		return p, err
	}
	p.env["GRPC_ADDR"] = in.addr("api.grpc")
	p.env["MASK_SECRET"] = in.secrets.Mask
	p.env["WEBHOOK_SECRET_KEY"] = in.secrets.Hooks
	p.env["CHECKPOINT_KEY"] = in.secrets.Checks
	p.env["WEBHOOK_ALLOW_PRIVATE"] = in.setting("WEBHOOK_ALLOW_PRIVATE", "true")       // receivers of tests run on this machine
	p.env["FEDERATION_ALLOW_PRIVATE"] = in.setting("FEDERATION_ALLOW_PRIVATE", "true") // partner stations of tests, too
	p.env["ADMIN_SECRET"] = in.secrets.Admin
	p.env["IDP_PROVIDERS"], err = in.providers()
	p.env["VENUE_A_SLUG"] = in.setting("VENUE_A_SLUG", "polymarket")
	p.env["POLYMARKET_GAMMA_URL"] = in.url("venues") + "/gamma"
	p.env["POLYMARKET_CLOB_URL"] = in.url("venues") + "/clob"
	p.env["POLYMARKET_WS_URL"] = "ws://" + in.addr("venues") + "/ws/market"
	p.env["KALSHI_URL"] = in.url("venues") + "/kalshi/trade-api/v2"
	p.env["LIMITLESS_URL"] = in.url("venues") + "/limitless"
	p.env["MANIFOLD_URL"] = in.url("venues") + "/manifold/v0"
	p.env["MANIFOLD_WAIT"] = in.setting("MANIFOLD_WAIT", "1s") // the simulator does not withdraw results
	p.env["VENUE_RPS"] = in.setting("VENUE_RPS", "2000")       // the simulator has no rate limit
	p.env["RESOLUTION_GRACE"] = in.setting("RESOLUTION_GRACE", "0s")
	p.env["MOVEMENT_EVERY"] = in.setting("MOVEMENT_EVERY", "10s") // a short interval, so that a new stack shows movements early
	return p, err
}

func (in inputs) clock() (program, error) {
	p, err := in.service("clock", "clock")
	if err != nil {
		return p, err
	}
	p.env["GRPC_ADDR"] = in.addr("clock.grpc")
	return p, nil
}

func (in inputs) hub(name string) (program, error) {
	p, err := in.service(name, "hub")
	if err != nil {
		return p, err
	}
	p.env["REPLICAS"] = strconv.Itoa(in.hubs)
	p.env["CLOCK_ADDR"] = in.addr("clock.grpc")
	p.env["SESSION_SECRETS"] = in.secrets.Session
	p.env["SUCCESSOR_SECRETS"] = in.secrets.Successor
	p.env["HUB_KEYS"] = in.setting("HUB_KEYS", `[{"seed":"`+in.secrets.HubSeed+`","notBefore":"2026-01-01T00:00:00Z"}]`)
	p.env["FEDERATION_ALLOW_PRIVATE"] = in.setting("FEDERATION_ALLOW_PRIVATE", "true")
	p.env["FEDERATION_EVERY"] = in.setting("FEDERATION_EVERY", "10s") // a short interval, so that a new partner appears early
	p.env["FEDERATION_KEEP"] = in.setting("FEDERATION_KEEP", "10m")
	p.env["INGEST_PROVIDER"] = in.setting("INGEST_PROVIDER", "origin")
	p.env["HLS_URL"] = in.setting("HLS_URL", in.url("origin"))
	if name == hubName(1) { // one process stores the video
		p.env["ORIGIN_LISTEN"] = in.addr("origin")
		p.env["ORIGIN_DIR"] = in.state.path("video")
	}
	p.env["ADMIN_SECRET"] = in.secrets.Admin
	p.env["CRON_SECRET"] = in.secrets.Cron
	p.env["IDP_PROVIDERS"], err = in.providers()
	p.env["IDP_LOGIN_URL"] = in.url("idp") + "/login"
	p.env["VENUE_A_SLUG"] = in.setting("VENUE_A_SLUG", "polymarket")
	p.env["SOCIAL_SOURCE"] = in.setting("SOCIAL_SOURCE", "farcaster")
	p.env["PAYOUT_CHAIN_ID"] = in.setting("PAYOUT_CHAIN_ID", "31337") // a chain and a token that do not exist
	p.env["PAYOUT_CHAIN_LABEL"] = in.setting("PAYOUT_CHAIN_LABEL", "devnet")
	p.env["PAYOUT_USDC_ADDRESS"] = in.setting("PAYOUT_USDC_ADDRESS", "0x3333333333333333333333333333333333333333")
	return p, err
}

// provider is one entry of the setting IDP_PROVIDERS.
type provider struct {
	Name        string   `json:"name"`
	Issuer      string   `json:"issuer"`
	Audience    string   `json:"audience"`
	JWKSURL     string   `json:"jwksURL"`
	Algs        []string `json:"algs"`
	WalletsFrom string   `json:"walletsFrom,omitempty"`
	UsersAPI    string   `json:"usersAPI,omitempty"`
	UsersSecret string   `json:"usersSecret,omitempty"`
}

// audience is the id of this installation at the development issuer.
const audience = "signalcast-dev"

// usersSecret is the default password of the users API of the development issuer. It protects test data only.
const usersSecret = "signalcast-dev-secret"

// providers returns the value of the setting IDP_PROVIDERS. By default it contains the development issuer twice: with OpenID
// Connect tokens and with Privy tokens.
func (in inputs) providers() (string, error) {
	idp := in.url("idp")
	raw, err := json.Marshal([]provider{
		{
			Name: "dev", Issuer: idp, Audience: audience, JWKSURL: idp + "/jwks.json",
			Algs: []string{"ES256"}, WalletsFrom: "usersAPI", UsersAPI: idp, UsersSecret: usersSecret,
		},
		{
			Name: "dev-privy", Issuer: "privy.io", Audience: audience, JWKSURL: idp + "/v1/apps/" + audience + "/jwks.json",
			Algs: []string{"ES256"}, WalletsFrom: "identityToken", UsersAPI: idp, UsersSecret: usersSecret,
		},
	})
	if err != nil {
		return "", fmt.Errorf("encode IDP_PROVIDERS: %w", err)
	}
	return in.setting("IDP_PROVIDERS", string(raw)), nil
}
