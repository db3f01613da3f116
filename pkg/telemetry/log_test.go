package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/signalcast/signalcast/pkg/telemetry"
)

const (
	canaryKey  = "dk_CANARYQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	canaryLive = "db_live_CANARYQFBgcICQoLDA0ODxAREhMUFRYXGBkaGx"
	canaryApp  = "dat_CANARYQFBgcICQoLDA0ODxAREh"
	canaryRef  = "drt_CANARYQFBgcICQoLDA0ODxAREh"
	canaryCode = "dac_CANARYQFBgcICQoLDA0ODxAREh"
	canarySec  = "das_CANARYQFBgcICQoLDA0ODxAREh"
	canaryAsk  = "dch_CANARYQFBgcICQoLDA0ODxAREh"
	canaryJWT  = "eyJhbGciOiJFUzI1NiJ9.eyJCANARYiOiJ4In0.CANARYsig"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":             "",
		"nothing here": "nothing here",
		canaryKey:      "dk_[hidden]",
		"key " + canaryKey + " and " + canaryApp + ".": "key dk_[hidden] and dat_[hidden]",
		"\"" + canaryLive + "\"":                       `"db_live_[hidden]"`,
		"(" + canaryRef + ")":                          "(drt_[hidden])",
		"dac_CANARYxx das_CANARYxx dar_CANARYxx":       "dac_[hidden] das_[hidden] dar_[hidden]",
		"/signers/dch_CANARYxx":                        "/signers/dch_[hidden]",
		"signs with whsec_CANARYxx_-x":                 "signs with whsec_[hidden]",
		canaryCode + " " + canarySec + " " + canaryAsk: "dac_[hidden] das_[hidden] dch_[hidden]",
		"Authorization: Bearer " + canaryJWT:           "Authorization: Bearer [hidden]",
		canaryJWT + "," + canaryJWT:                    "eyJ[hidden],eyJ[hidden]",
		"/api/admin?secret=CANARY%2Fx&x=1":             "/api/admin?secret=[hidden]&x=1",
		"refresh_token=CANARY&token=":                  "refresh_token=[hidden]&token=",
		"db_uid=CANARY.1.2; db_sig=CANARY/+=":          "db_uid=[hidden]; db_sig=[hidden]",
		"postgres://rw:CANARY@db:5432/sc?x":            "postgres://rw:[hidden]@db:5432/sc?x",
		"redis://:CAN@ARY:x@cache/0":                   "redis://:[hidden]@cache/0",
		"dial https://hub.example:443/x@y":             "dial https://hub.example:443/x@y",
		"dk_short":                                     "dk_short",
		"update_dat_somethinglong":                     "update_dat_somethinglong",
		"candat_something dk_":                         "candat_something dk_",
	} {
		if got := telemetry.Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

type inner struct {
	Note string
	Key  string
}

func TestNoSecretInLogs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, slog.LevelDebug, "hub")
	log.With("authorization", "CANARY", "session_token", "CANARY").WithGroup("g").Info("said "+canaryKey,
		"Cookie", "CANARY", "x-admin-secret", []string{"CANARY"}, "client_secret", inner{Note: "CANARY"},
		"error", errors.New("call with "+canaryApp), "any", inner{Note: "CAN", Key: canaryKey}, "list", []string{canaryRef},
		"map", map[string]string{"x": canaryJWT}, "url", "postgres://u:CANARY@h/d", slog.Group("deep", "password", "CANARY", "fine", 1),
		"clob_token_id", "713200")
	if strings.Contains(out.String(), "CANARY") {
		t.Errorf("the log contains a secret: %s", out.String())
	}
	var line struct {
		Service string
		Msg     string
		G       struct {
			ClobTokenID string         `json:"clob_token_id"`
			Deep        map[string]any `json:"deep"`
			Any         inner          `json:"any"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if line.Service != "hub" || line.Msg != "said dk_[hidden]" || line.G.ClobTokenID != "713200" || line.G.Deep["fine"] != 1.0 || line.G.Any.Note != "CAN" {
		t.Errorf("wrong log record: %+v", line)
	}
}

func TestLogCarriesTrace(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, slog.LevelInfo, "api")
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 2}, SpanID: trace.SpanID{3}})
	log.InfoContext(trace.ContextWithSpanContext(t.Context(), sc), "x")
	log.Debug("not at this level")
	if !strings.Contains(out.String(), `"trace_id":"01020000000000000000000000000000"`) || strings.Contains(out.String(), "not at") {
		t.Errorf("wrong log: %s", out.String())
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]slog.Level{"debug": slog.LevelDebug, "": slog.LevelInfo, "WARN": slog.LevelWarn, "error": slog.LevelError, "x": slog.LevelInfo} {
		if got := telemetry.Level(s); got != want {
			t.Errorf("Level(%q) = %v", s, got)
		}
	}
}
