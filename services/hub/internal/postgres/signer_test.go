package postgres_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

func TestRegisterSigner(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newClient("alice", alice)
	asked := p.ask(t, d, func(s *message.SignerDraft) { s.ExpiresAt = "2026-12-01T00:00:00+01:00" })
	got, err := d.RegisterSigner(t.Context(), p.owner, asked)
	if err != nil {
		t.Fatal(err)
	}
	found, err := d.Signer(t.Context(), p.key())
	if err != nil || found.Key != got.Key || !found.ExpiresAt.Equal(got.ExpiresAt) || !found.CreatedAt.Equal(midday) || found.DenpaID != alice ||
		found.Label != "signingClient" || len(found.Scopes) != 9 || found.Status(midday) != message.Active || found.Status(got.ExpiresAt) != message.Expired {
		t.Errorf("%+v, %v", found, err)
	}
	list, err := d.ListSigners(t.Context(), alice)
	if err != nil || len(list) != 1 || list[0].Key != got.Key {
		t.Errorf("%+v, %v", list, err)
	}
	// Repeat the request: its challenge is used.
	refuses(t, "challenge_expired")(d.RegisterSigner(t.Context(), p.owner, asked))
	refuses(t, "signer_exists")(d.RegisterSigner(t.Context(), p.owner, p.ask(t, d, nil)))
	for _, bad := range []string{"", "x", strings.Repeat("0", 64)} {
		refuses(t, "not_found")(d.Signer(t.Context(), bad))
	}
	refuses(t, "invalid_request schema")(d.ListSigners(t.Context(), "alice"))
}

// TestProof (S37) checks that a challenge can be used once and only for the signed content. A signature of a message must be
// invalid as a proof, and the reverse.
func TestProof(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newClient("alice", alice)
	other := newClient("other", alice)
	bobs := p
	bobs.owner.DenpaID = bob
	good := p.ask(t, d, nil)
	for name, c := range map[string]struct {
		owner message.Owner
		edit  func(*message.SignerDraft)
		want  string
	}{
		"another passport":    {bobs.owner, func(*message.SignerDraft) {}, "invalid_proof"},
		"fewer scopes":        {p.owner, func(s *message.SignerDraft) { s.Scopes = s.Scopes[:1] }, "invalid_proof"},
		"an expiry":           {p.owner, func(s *message.SignerDraft) { s.ExpiresAt = "2027-01-01T00:00:00Z" }, "invalid_proof"},
		"another key":         {p.owner, func(s *message.SignerDraft) { s.PublicKey = other.key() }, "invalid_proof"},
		"another challenge":   {p.owner, func(s *message.SignerDraft) { s.Challenge += "x" }, "invalid_proof"},
		"no proof":            {p.owner, func(s *message.SignerDraft) { s.Proof = "" }, "invalid_proof"},
		"proof in upper case": {p.owner, func(s *message.SignerDraft) { s.Proof = strings.ToUpper(s.Proof) }, "invalid_proof"},
		"no scopes":           {p.owner, func(s *message.SignerDraft) { s.Scopes = nil }, "invalid_request schema"},
		"a scope twice":       {p.owner, func(s *message.SignerDraft) { s.Scopes = []string{"signal:create", "signal:create"} }, "invalid_request schema"},
		"no such scope":       {p.owner, func(s *message.SignerDraft) { s.Scopes = []string{"profile:read"} }, "invalid_request schema"},
		"expiry in the past":  {p.owner, func(s *message.SignerDraft) { s.ExpiresAt = "2026-09-18T12:00:00Z" }, "invalid_request schema"},
		"label too long":      {p.owner, func(s *message.SignerDraft) { s.Label = strings.Repeat("é", 65) }, "invalid_request schema"},
		"malformed key":       {p.owner, func(s *message.SignerDraft) { s.PublicKey = "x" }, "invalid_request schema"},
		"weak key":            {p.owner, func(s *message.SignerDraft) { s.PublicKey = "01" + strings.Repeat("0", 62) }, "weak_key"},
		"the hub's key":       {p.owner, func(s *message.SignerDraft) { s.PublicKey = string(d.Keys.All()[0].Key) }, "signer_exists"},
		"more than granted":   {message.Owner{DenpaID: alice, Scopes: []string{"signal:create"}}, func(*message.SignerDraft) {}, "insufficient_scope"},
	} {
		s := good
		s.Scopes = append([]string{}, good.Scopes...)
		c.edit(&s)
		if _, err := d.RegisterSigner(t.Context(), c.owner, s); why(err) != c.want {
			t.Errorf("%s: %q, want %q", name, why(err), c.want)
		}
	}
	// A message signature over the content of a proof.
	proof, err := message.SignerProof(issuer, p.owner, good)
	if err != nil {
		t.Fatal(err)
	}
	crossed := good
	asMessage := bytes.Replace(proof, []byte(message.SignerPrefix), []byte(message.MessagePrefix), 1)
	crossed.Proof = hex.EncodeToString(ed25519.Sign(p.private, asMessage))
	refuses(t, "invalid_proof")(d.RegisterSigner(t.Context(), p.owner, crossed))
	if _, err = d.RegisterSigner(t.Context(), p.owner, good); err != nil {
		t.Fatal(err)
	}
	// A proof signature over the content of a message.
	raw := p.call(t, midday, nil)
	m, err := message.Read(issuer, raw)
	if err != nil {
		t.Fatal(err)
	}
	asProof := ed25519.Sign(p.private, bytes.Replace(m.Signed, []byte(message.MessagePrefix), []byte(message.SignerPrefix), 1))
	forged := bytes.Replace(raw, []byte(hex.EncodeToString(m.Signature)), []byte(hex.EncodeToString(asProof)), 1)
	refuses(t, "unauthenticated bad_signature")(d.Submit(t.Context(), forged, nil))
}

func TestChallengeExpires(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newClient("alice", alice)
	late := p.ask(t, d, nil)
	d.clock.Advance(message.ChallengeAge)
	refuses(t, "challenge_expired")(d.RegisterSigner(t.Context(), p.owner, late))
	inTime := p.ask(t, d, nil) // deletes the expired challenge
	if n := d.count(t, "signer_challenges"); n != 1 {
		t.Errorf("%d challenges are stored", n)
	}
	d.clock.Advance(message.ChallengeAge - time.Microsecond)
	if _, err := d.RegisterSigner(t.Context(), p.owner, inTime); err != nil {
		t.Error(err)
	}
	var hash []byte
	if err := testkit.Pool(t, d.db.URL("hub_rw")).QueryRow(t.Context(), "SELECT hash FROM signer_challenges").Scan(&hash); err != nil || bytes.Contains(hash, []byte("dch_")) || len(hash) != 32 {
		t.Errorf("%x, %v", hash, err)
	}
	_, _, err := d.Challenge(t.Context(), p.owner, "01"+strings.Repeat("0", 62))
	must(t, err, "weak_key")
	_, _, err = d.Challenge(t.Context(), p.owner, string(d.Keys.All()[0].Key))
	must(t, err, "signer_exists")
}

// TestRevokedKeyCannotBeRegistered (S38) checks that no operator can register a revoked key again.
func TestRevokedKeyCannotBeRegistered(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	raw := p.call(t, midday, nil)
	if _, err := d.Submit(t.Context(), raw, nil); err != nil {
		t.Fatal(err)
	}
	for _, stranger := range []message.Owner{{DenpaID: bob}, {DenpaID: alice, AppID: "app", GrantID: uuid.NewString()}} {
		refuses(t, "not_found")(d.RevokeSigner(t.Context(), stranger, p.key()))
	}
	d.clock.Advance(time.Second)
	first, err := d.RevokeSigner(t.Context(), p.owner, p.key())
	if err != nil || !first.RevokedAt.Equal(midday.Add(time.Second)) || first.RevokedBy != "user" {
		t.Fatalf("%+v, %v", first, err)
	}
	d.clock.Advance(time.Second)
	if again, err := d.RevokeSigner(t.Context(), p.owner, p.key()); err != nil || !again.RevokedAt.Equal(first.RevokedAt) {
		t.Errorf("%+v, %v", again, err)
	}
	bobs := newClient("alice", bob)
	for _, who := range []signingClient{p, bobs} {
		refuses(t, "signer_revoked")(d.RegisterSigner(t.Context(), who.owner, who.ask(t, d, nil)))
	}
	refuses(t, "unauthenticated signer_revoked")(d.Submit(t.Context(), p.call(t, d.clock.Now(), nil), nil))
	// Messages accepted earlier remain, and repeating one returns the stored result.
	if got, err := d.Submit(t.Context(), raw, nil); err != nil || !got.Replayed {
		t.Errorf("%+v, %v", got, err)
	}
	if s, err := d.Signer(t.Context(), p.key()); err != nil || s.Status(d.clock.Now()) != message.Revoked {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSignersOfGrant (S38) checks that a signer expires with its grant and is revoked with it.
func TestSignersOfGrant(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	appID, grantID := uuid.NewString(), uuid.NewString()
	p := newClient("app", alice)
	p.owner.AppID, p.owner.GrantID, p.owner.ExpiresAt = appID, grantID, midday.Add(time.Hour)
	got, err := d.RegisterSigner(t.Context(), p.owner, p.ask(t, d, func(s *message.SignerDraft) { s.ExpiresAt = "2027-01-01T00:00:00Z" }))
	if err != nil || !got.ExpiresAt.Equal(midday.Add(time.Hour)) {
		t.Fatalf("the signer expires after its grant: %+v, %v", got, err)
	}
	if got, err := d.Submit(t.Context(), p.call(t, midday, nil), nil); err != nil || got.AppID != appID {
		t.Fatalf("%+v, %v", got, err)
	}
	pool := testkit.Pool(t, d.db.URL("hub_rw"))
	err = pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		n, err := postgres.RevokeSignersOf(t.Context(), db.New(tx), grantID, midday)
		if n != 1 {
			t.Errorf("%d signers", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Signer(t.Context(), p.key())
	if err != nil || s.RevokedBy != "grant" || !s.RevokedAt.After(midday) {
		t.Errorf("the signer was revoked before its last message: %+v, %v", s, err)
	}
	refuses(t, "unauthenticated signer_revoked")(d.Submit(t.Context(), p.call(t, midday, nil), nil))

	q := newClient("short", alice)
	q.owner.AppID, q.owner.GrantID, q.owner.ExpiresAt = appID, grantID, midday.Add(time.Hour)
	q.register(t, d)
	d.clock.Set(midday.Add(time.Hour))
	refuses(t, "unauthenticated signer_expired")(d.Submit(t.Context(), q.call(t, d.clock.Now(), nil), nil))
}

// TestSignerLimit checks the limit of ten active signers of a user for an app, also for concurrent registrations.
func TestSignerLimit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	drafts := make([]message.SignerDraft, 2*message.MaxSigners)
	owner := newClient("", alice).owner
	for i := range drafts {
		drafts[i] = newClient("signingClient "+string(rune('a'+i)), alice).ask(t, d, nil)
	}
	errs := make([]error, len(drafts))
	var wg sync.WaitGroup
	for i, s := range drafts {
		wg.Go(func() {
			_, errs[i] = retryBusy(func() error {
				_, err := d.RegisterSigner(t.Context(), owner, s)
				return err
			})
		})
	}
	wg.Wait()
	made, freed := 0, false
	for i, err := range errs {
		if err == nil {
			made++
			if !freed {
				_, revoking := d.RevokeSigner(t.Context(), owner, drafts[i].PublicKey)
				must(t, revoking, "")
				freed = true
			}
			continue
		}
		must(t, err, "limit_reached")
	}
	if made != message.MaxSigners || d.count(t, "signers") != message.MaxSigners {
		t.Errorf("%d signers", made)
	}
	newClient("after", alice).register(t, d) // one signer was revoked
	newClient("bob", bob).register(t, d)
	refuses(t, "limit_reached")(d.RegisterSigner(t.Context(), owner, newClient("too many", alice).ask(t, d, nil)))
}

// TestRevokeRacesSubmit (S46) checks that each accepted message was received before its signer was revoked, even if the clock of
// the revoking hub is behind.
func TestRevokeRacesSubmit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	taken := 0
	for round := range 25 {
		p := newClient("racer "+string(rune('a'+round)), uuid.NewString())
		p.register(t, d)
		const callers = 4
		raws := make([][]byte, callers)
		for i := range raws {
			raws[i] = p.call(t, d.clock.Now(), nil)
		}
		start := make(chan struct{})
		var wg sync.WaitGroup
		for _, raw := range raws {
			wg.Go(func() {
				<-start
				_, err := d.Submit(t.Context(), raw, nil)
				if w := why(err); w != "" && w != "unauthenticated signer_revoked" && w != "db_unavailable" {
					t.Errorf("%v", err)
				}
			})
		}
		wg.Go(func() {
			<-start
			slow := midday.Add(-time.Minute)
			_, err := retryBusy(func() error {
				_, err := d.store.RevokeSigner(t.Context(), message.Key(p.key()), p.owner.DenpaID, "", "user", slow)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		close(start)
		wg.Wait()
		s, err := d.Signer(t.Context(), p.key())
		if err != nil {
			t.Fatal(err)
		}
		page, err := d.List(t.Context(), message.Query{DenpaID: p.owner.DenpaID})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Messages {
			if taken++; !r.ReceivedAt.Before(s.RevokedAt) {
				t.Errorf("received %v, revoked %v", r.ReceivedAt, s.RevokedAt)
			}
		}
		d.clock.Advance(time.Second)
	}
	if taken == 0 {
		t.Error("no message was accepted, so the race tests nothing")
	}
}

// TestRevokeWaits (S46) checks that a revocation waits for a message that is being stored, and that a message after the
// revocation is refused.
func TestRevokeWaits(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	pool := testkit.Pool(t, d.db.URL("hub_rw"))
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM signers WHERE public_key = $1 FOR SHARE", p.key()); err != nil {
		t.Fatal(err)
	}
	// Other messages of the signer can be stored concurrently, but a revocation must wait.
	if _, err := d.Submit(t.Context(), p.call(t, midday, nil), nil); err != nil {
		t.Error(err)
	}
	refuses(t, "db_unavailable")(d.RevokeSigner(t.Context(), p.owner, p.key())) // it waited until its time limit
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A revocation in progress makes messages wait.
	if tx, err = pool.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "UPDATE signers SET revoked_at = $2, revoked_by = 'user' WHERE public_key = $1", p.key(), midday); err != nil {
		t.Fatal(err)
	}
	refuses(t, "db_unavailable")(d.Submit(t.Context(), p.call(t, midday, nil), nil))
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The check within the transaction, after the earlier check has passed.
	raw := p.call(t, midday, nil)
	m, err := message.Read(issuer, raw)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = d.store.ReserveMessage(t.Context(), message.Record{
		ID: m.ID, Type: m.Type, DenpaID: m.DenpaID, Key: m.Key, Nonce: m.Nonce, Body: m.Body, ReceivedAt: midday, Pending: true, Attempt: uuid.NewString(),
	})
	must(t, err, "unauthenticated signer_revoked")
}

// TestSignersStay checks that the database permits no change of a signer but one revocation, for any role.
func TestSignersStay(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	if _, err := d.RevokeSigner(t.Context(), p.owner, p.key()); err != nil {
		t.Fatal(err)
	}
	newClient("active", alice).register(t, d)
	attempts := []string{
		"UPDATE signers SET revoked_at = NULL, revoked_by = NULL",
		"UPDATE signers SET revoked_at = now() WHERE revoked_at IS NOT NULL",
		"UPDATE signers SET scopes = '{signal:create}'",
		"UPDATE signers SET expires_at = NULL",
		"UPDATE signers SET public_key = repeat('0', 64), revoked_at = now(), revoked_by = 'user' WHERE revoked_at IS NULL",
		"DELETE FROM signers",
		"TRUNCATE signers",
	}
	for _, sql := range append([]string{"ALTER TABLE signers DISABLE TRIGGER ALL", "DROP TABLE signers"}, attempts...) {
		refused(t, d.db.URL("hub_rw"), sql)
	}
	for _, sql := range attempts {
		refused(t, d.db.Admin, "SET ROLE hub_migrator; SET search_path = hub; "+sql)
	}
}
