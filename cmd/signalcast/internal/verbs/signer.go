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

// Signer groups the commands of `signalcast signer`, which create, register and revoke signing keys.
type Signer struct {
	New      signerNew      `cmd:"" help:"Create an Ed25519 key of your passport in a new file of mode 0600."`
	Register signerRegister `cmd:"" help:"Register a key, so that it can sign messages for you."`
	Revoke   signerRevoke   `cmd:"" help:"Revoke a key. This is final. Messages that it signed stay valid."`
}

// byApp contains the flags of a command that sends the access token of an app to the hub if --app-token is set, and otherwise
// the operator key.
type byApp struct {
	settings.Flags
	AppToken string `name:"app-token" help:"File with an access token of an app (dat_…), mode 0600. The key belongs to the grant and can have its scopes. Set the flag for new, register and revoke." placeholder:"FILE"`
}

// Provide returns a session that sends the access token or the operator key to the hub. kong passes it to Run.
func (b *byApp) Provide(s *Streams) (*session, error) {
	if b.AppToken == "" {
		return openWithKey(&b.Flags, s)
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
	File   string `arg:"" help:"New file for the key. An existing file is not overwritten." type:"path"`
	Issuer string `help:"Issuer for which messages are signed. Default: the address of the hub and /api/protocol/v1." placeholder:"URL"`
}

// newSigner is the JSON output of signer new. It does not contain the seed.
type newSigner struct {
	PublicKey string `json:"publicKey"`
	DenpaID   string `json:"denpaId"`
	Issuer    string `json:"issuer"`
	Stored    string `json:"stored"`
}

// Run creates a signing key for the passport of the caller and stores it in a new file.
func (n *signerNew) Run(ctx context.Context, at *session) error {
	if n.Issuer == "" {
		n.Issuer = at.at + "/api/protocol/v1"
	} else if u, err := url.Parse(n.Issuer); err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(n.Issuer, "\n\r") {
		return errors.New("--issuer must be a URL without user name, such as https://hub.example/api/protocol/v1")
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
	out := newSigner{key.PublicKey, key.DenpaID, key.Issuer, n.File}
	return at.answer(out, "Public key", out.PublicKey, "Passport", out.DenpaID, "Issuer", out.Issuer, "Stored in", out.Stored,
		"Next", "signalcast signer register "+out.Stored+" --scope signal:create")
}

type signerRegister struct {
	byApp
	File  string   `arg:"" help:"File of the key." type:"path"`
	Scope []string `required:"" help:"Scopes of the key, such as signal:create, one for each type of message. An operator key can grant those of its permissions."`
	Label string   `help:"Name of the key." default:"signalcast"`
	Days  int      `help:"Days until the key expires, at most 90 with an operator key. A key of an app expires with its grant at the latest." bounds:"of at least 1" default:"89"`
}

// Run requests a challenge from the hub, signs the registration with the key, and registers the key.
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
		return r.advise(ask.AsRead(err))
	}
	if c.Challenge == "" {
		return errors.New("the response of the hub contains no challenge; check --hub")
	}
	expires := time.Now().UTC().AddDate(0, 0, r.Days).Truncate(time.Second)
	stamp := expires.Format(time.RFC3339) // the signature covers this text, which must equal the one in the body
	proof, err := key.Proof(c.Challenge, r.Scope, &stamp)
	if err != nil {
		return err
	}
	a, err := at.RegisterSigner(ctx, client.SignerDraft{
		PublicKey: key.PublicKey, Scopes: r.Scope, Label: &r.Label, ExpiresAt: &expires, Challenge: c.Challenge, Proof: proof,
	})
	return r.advise(showResponse(at, a, err, signerPairs(at)))
}

// signerPairs returns a function that shows a registered key.
func signerPairs(at *session) func(*client.Signer) error {
	return func(v *client.Signer) error {
		return show.Pairs(at.out, "Signer", v.PublicKey, "May sign", strings.Join(v.Scopes, " "),
			"Status", string(v.Status), "Passport", v.DenpaID.String())
	}
}

// advise adds advice for people to the refusal of a registration.
func (r *signerRegister) advise(err error) error {
	err = ask.AdviseUnknown(err, "Run the command again: the answer says whether the key is registered")
	return ask.Advise(err, map[string]ask.Advice{
		"signer_exists":  {Why: "The key is already registered", Do: "Sign with `signalcast message sign`"},
		"signer_revoked": {Why: "A revoked key cannot be registered again", Do: "Create a new one with `signalcast signer new`"},
		"invalid_proof": {Why: "The key has another issuer or passport", Do: "Create a key for this hub with `signalcast signer new`, " +
			"and set --issuer if the hub has another issuer"},
		"insufficient_scope": {Do: "An operator key can grant signal:create, prediction:create and the scopes of broadcasts and " +
			"stations; for other scopes use the token of an app with --app-token"},
		"limit_reached": {Do: "Revoke a key that you do not use: signalcast signer revoke FILE"},
	})
}

type signerRevoke struct {
	byApp
	File string `arg:"" help:"File of the key." type:"path"`
}

// Run revokes the key at the hub. It does not delete the file of the key.
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
	return ask.Advise(showResponse(at, a, err, signerPairs(at)), map[string]ask.Advice{
		"404": {Why: "The key is not registered at this hub", Do: "Check --hub"},
	})
}
