package verbs

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/signer"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Signer are `signalcast signer …`.
type Signer struct {
	New      signerNew      `cmd:"" help:"Make an Ed25519 key of your passport, in a new file of mode 0600."`
	Register signerRegister `cmd:"" help:"Let the key sign for you."`
	Revoke   signerRevoke   `cmd:"" help:"Take that back, for ever. What it signed stays."`
}

// byApp are the flags of a command that sends the token of an app to the hub, or else the operator key.
type byApp struct {
	settings.Flags
	AppToken string `name:"app-token" help:"File with the access token of an app (dat_…), mode 0600: the key is of its grant, and may have each scope of it. It is needed with new, register and revoke alike." placeholder:"FILE"`
}

// Provide opens the hub for Run.
func (b *byApp) Provide(s *Streams) (*session, error) {
	if b.AppToken == "" {
		return writing(&b.Flags, s)
	}
	return connect(&b.Flags, s, func(hub string) (string, error) {
		token, err := settings.AppToken(b.AppToken)
		if err != nil {
			return "", err
		}
		return token, b.MaySend(hub)
	})
}

type signerNew struct {
	byApp
	File   string `arg:"" help:"The file, which must not be there yet." type:"path"`
	Issuer string `help:"Under whose name messages are signed; without it the hub's address and /api/protocol/v1." placeholder:"URL"`
}

// made is what signer new answers; the seed is not in it.
type made struct {
	PublicKey string `json:"publicKey"`
	DenpaID   string `json:"denpaId"`
	Issuer    string `json:"issuer"`
	Stored    string `json:"stored"`
}

// Run makes a key for the passport of the operator key.
func (n *signerNew) Run(ctx context.Context, at *session) error {
	if n.Issuer == "" {
		n.Issuer = at.at + "/api/protocol/v1"
	} else if u, err := url.Parse(n.Issuer); err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(n.Issuer, "\n\r") {
		return errors.New("--issuer is no address; write it like https://hub.example/api/protocol/v1")
	}
	me, err := decoded[client.OwnPassport](at.GetMe(ctx))
	if err != nil {
		return err
	}
	draft := signer.Key{DenpaID: me.DenpaID.String(), Issuer: n.Issuer}
	if me.Grant != nil {
		app := me.Grant.AppID.String()
		draft.AppID = &app
	}
	key, err := signer.New(n.File, draft)
	if err != nil {
		return err
	}
	out := made{key.PublicKey, key.DenpaID, key.Issuer, n.File}
	return at.answer(out, "Public key", out.PublicKey, "Passport", out.DenpaID, "Issuer", out.Issuer, "Stored in", out.Stored,
		"Next", "signalcast signer register "+out.Stored+" --scope signal:create")
}

type signerRegister struct {
	byApp
	File  string   `arg:"" help:"The file of the key." type:"path"`
	Scope []string `required:"" help:"What it may sign, as signal:create; one for each type of message. An operator key can give those of its permissions."`
	Label string   `help:"Name of the signer." default:"signalcast"`
	Days  int      `help:"Days until the signer expires, at most 90 with an operator key. A signer of an app ends with its grant at the latest." default:"89"`
}

// Run proves that the key is held here, and registers it.
func (r *signerRegister) Run(ctx context.Context, s *Streams) error {
	if r.Days < 1 {
		return errors.New("--days must be at least 1")
	}
	key, err := signer.Open(r.File)
	if err != nil {
		return err
	}
	at, err := r.Provide(s)
	if err != nil {
		return err
	}
	c, err := decoded[client.SignerChallenge](at.ChallengeSigner(ctx, client.SignerChallengeDraft{PublicKey: key.PublicKey}))
	if err != nil {
		return r.advise(ask.Harmless(err))
	}
	if c.Challenge == "" {
		return errors.New("the hub's answer holds no challenge: look at --hub")
	}
	expires := time.Now().UTC().AddDate(0, 0, r.Days).Truncate(time.Second)
	stamp := expires.Format(time.RFC3339) // as the body spells it
	proof, err := key.Proof(c.Challenge, r.Scope, &stamp)
	if err != nil {
		return err
	}
	a, err := at.RegisterSigner(ctx, client.SignerDraft{PublicKey: key.PublicKey, Scopes: r.Scope, Label: &r.Label, ExpiresAt: &expires, Challenge: c.Challenge, Proof: proof})
	return r.advise(finish(at, a, err, signerPairs(at)))
}

func signerPairs(at *session) func(*client.Signer) error {
	return func(v *client.Signer) error {
		return show.Pairs(at.out, "Signer", v.PublicKey, "May sign", strings.Join(v.Scopes, " "), "Status", string(v.Status), "Passport", v.DenpaID.String())
	}
}

func (r *signerRegister) advise(err error) error {
	err = ask.MayHave(err, "Run the command again: the answer says whether the key is registered")
	return ask.Advise(err, map[string]string{
		"signer_exists":      "It is registered already: sign with `signalcast message sign`",
		"signer_revoked":     "A key that was revoked never comes back: make a new one with `signalcast signer new`",
		"invalid_proof":      "The key was made under another issuer or passport: make one for this hub with `signalcast signer new`, and --issuer if the hub has another name",
		"insufficient_scope": "An operator key gives no more than signal:create, prediction:create and those of broadcasts and stations; for others take an app's token with --app-token",
		"limit_reached":      "Revoke a signer that you do not use: signalcast signer revoke FILE",
	})
}

type signerRevoke struct {
	byApp
	File string `arg:"" help:"The file of the key." type:"path"`
}

// Run revokes; the file stays.
func (r *signerRevoke) Run(ctx context.Context, s *Streams) error {
	key, err := signer.Open(r.File)
	if err != nil {
		return err
	}
	at, err := r.Provide(s)
	if err != nil {
		return err
	}
	a, err := at.RevokeSigner(ctx, key.PublicKey)
	return known(finish(at, a, err, signerPairs(at)), "It is registered nowhere here: look at --hub")
}
