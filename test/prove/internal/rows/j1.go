package rows

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/proto/testvectors"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// j1 shows keys and signatures to the doors on which verifiers of Ed25519 differ,
// and runs the tests of the product over those vectors whose data no message can be.
var j1 = frame.Row{
	ID: "J1", Title: "strict Ed25519",
	Fault: frame.Fault{What: "keys and signatures are judged by the standard library alone"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		s := strict{env: env, seen: seen}
		var err error
		if s.ops, err = pool(ctx, env, "j1", 4, 1); err != nil {
			return nil, err
		}
		if err := s.keys(ctx); err != nil {
			return nil, err
		}
		if err := s.signatures(ctx); err != nil {
			return nil, err
		}
		var tests tested
		if env.Size != frame.Small { // the fault shows at the doors
			if tests, err = ownTests(ctx, env, seen, "./services/hub/internal/message", "^(TestEd25519|TestWeakKeys|TestUniversalSignature|TestForgedSignatures|TestMalleated)$"); err != nil {
				return nil, err
			}
		}
		seen.Figure("vectors", tests.passed+len(tests.failed))
		seen.Figure("atTheDoors", s.shown)
		cases := s.shown + tests.passed + len(tests.failed)
		seen.Promise(fmt.Sprintf("wrong 0 of %d", cases), fmt.Sprintf("wrong %d", s.wrong+len(tests.failed)))
		seen.Volume("%d vectors, %d keys and signatures at the doors", tests.passed+len(tests.failed), s.shown)
		return seen, nil
	},
}

// strict counts what the doors say of odd keys and signatures.
type strict struct {
	env          *frame.Env
	seen         *frame.Seen
	ops          []client.Operator
	shown, wrong int
}

// note counts one; the answer has to be a refusal of that status and code.
func (s *strict) note(what string, a client.Answer, status int, code string) {
	s.shown++
	if a.Status != status || a.Code() != code {
		s.wrong++
		s.seen.Wrong("%s: answered %s", what, a)
	}
}

// The curve has a field of 2^255 - 19 numbers; the order is that of its large group.
var (
	fieldPrime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	groupOrder = func() *big.Int {
		o, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
		return o.Add(o, new(big.Int).Lsh(big.NewInt(1), 252))
	}()
)

// lowFirst writes a number in 32 bytes, the lowest first, with a sign bit.
func lowFirst(n *big.Int, sign byte) []byte {
	out := n.FillBytes(make([]byte, 32))
	slices.Reverse(out)
	out[31] |= sign << 7
	return out
}

// smallKeys are all encodings that a decoder takes for one of the eight points of
// small order.
func smallKeys() [][]byte {
	const one, eight1, eight2 = 1,
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
	var list [][]byte
	for _, y := range []*big.Int{
		big.NewInt(0), big.NewInt(one), new(big.Int).Sub(fieldPrime, big.NewInt(one)), fieldPrime, new(big.Int).Add(fieldPrime, big.NewInt(one)),
	} {
		list = append(list, lowFirst(y, 0), lowFirst(y, 1))
	}
	for _, text := range []string{eight1, eight2} {
		b, err := hex.DecodeString(text)
		if err != nil {
			panic(err) // it is written above
		}
		other := slices.Clone(b)
		other[31] ^= 0x80
		list = append(list, b, other)
	}
	return list
}

// keys asks both hubs for a challenge for keys that must not sign.
func (s *strict) keys(ctx context.Context) error {
	weak := smallKeys()
	if len(weak) != 14 {
		return fmt.Errorf("%d encodings of small points", len(weak))
	}
	var file struct {
		Cases []struct{ Source, PublicKey string }
	}
	if err := json.Unmarshal(testvectors.Ed25519, &file); err != nil {
		return err
	}
	good := 0 // of the suite of odd signatures two keys are as they should be
	for _, c := range file.Cases {
		if b, err := hex.DecodeString(c.PublicKey); err == nil && c.Source == "speccheck" && !slices.ContainsFunc(weak, func(w []byte) bool { return string(w) == string(b) }) {
			weak = append(weak, b)
		}
	}
	for y := int64(3); y < 19; y++ { // a second encoding, of points that are not small
		weak = append(weak, lowFirst(new(big.Int).Add(fieldPrime, big.NewInt(y)), 0))
	}
	for i, key := range weak {
		a := s.env.Client.Do(ctx, client.Request{
			URL: protocol(s.env, i) + "/signers/challenge", As: s.ops[i%len(s.ops)].Keys[0], Body: map[string]any{"publicKey": hex.EncodeToString(key)},
		})
		if a.Status == http.StatusOK && mayStand[hex.EncodeToString(key)] {
			good++
			continue
		}
		s.note(fmt.Sprintf("the key %x", key), a, http.StatusBadRequest, "weak_key")
		s.universal(ctx, i, key)
	}
	s.seen.Check(good == len(mayStand), "%d of %d good keys got a challenge", good, len(mayStand))
	return nil
}

// mayStand are keys of the suite with which nothing is wrong; their signatures are.
var mayStand = map[string]bool{
	"442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623": true,
}

// strictDesk is the station that the messages are about.
const strictDesk = "strict-desk"

// universal shows the one signature that fits many messages of a small-order key.
func (s *strict) universal(ctx context.Context, i int, key []byte) {
	constant := append(lowFirst(big.NewInt(1), 0), make([]byte, 32)...)
	p := pen{public: hex.EncodeToString(key), denpaID: s.ops[0].ID, issuer: issuerOf(s.env)}
	for n := range 8 {
		v, a := judged(ctx, s.env, i+n, sealed(p.draft(aNotice, nonceOf("j1 %d", n), time.Now(), notice(strictDesk, "b")), constant))
		s.shown++
		if v.Valid || !slices.Contains(v.Reasons, "bad_signature") {
			s.wrong++
			s.seen.Wrong("the constant signature of %x: answered %s", key, a)
		}
	}
}

// signatures shows what can be made of a good signature without its key, and one for
// the other, to the doors of messages and of signers.
func (s *strict) signatures(ctx context.Context) error {
	op := s.ops[0]
	p := newPen(s.env, op.ID, "j1")
	if err := p.register(ctx, s.env, op.Keys[0], "station:update"); err != nil {
		return fmt.Errorf("register a signer: %w", err)
	}
	if err := enlist(ctx, s.env, op.Keys[0], strictDesk); err != nil {
		return err
	}
	draft := p.draft(aNotice, nonceOf("j1"), time.Now(), notice(strictDesk, "strict"))
	good := ed25519.Sign(p.private, p.signed(draft))
	other := newPen(s.env, op.ID, "j1 other")
	challenge, err := other.challenge(ctx, s.env, op.Keys[0])
	if err != nil {
		return err
	}
	scopes := []string{"station:update"}
	proof := ed25519.Sign(other.private, other.proved(challenge, scopes))
	for i, made := range malleated(good) {
		s.note("a message, "+made.what, submit(ctx, s.env, i, sealed(draft, made.signature)), http.StatusUnauthorized, "unauthenticated")
	}
	for _, made := range malleated(proof) {
		s.note("a proof, "+made.what, other.apply(ctx, s.env, op.Keys[0], challenge, made.signature, scopes), http.StatusBadRequest, "invalid_proof")
	}
	crossed := ed25519.Sign(p.private, p.proved(challenge, scopes))
	s.note("a proof in the place of a message's signature", submit(ctx, s.env, 0, sealed(draft, crossed)), http.StatusUnauthorized, "unauthenticated")
	crossed = ed25519.Sign(other.private, []byte(strings.Replace(string(other.proved(challenge, scopes)), "denpa-signer-v1", "denpa-message-v1", 1)))
	s.note("a message's prefix on a proof", other.apply(ctx, s.env, op.Keys[0], challenge, crossed, scopes), http.StatusBadRequest, "invalid_proof")
	if a := submit(ctx, s.env, 0, sealed(draft, good)); a.Status != http.StatusCreated {
		return fmt.Errorf("the honest message was answered %s", a)
	}
	return other.apply(ctx, s.env, op.Keys[0], challenge, proof, scopes).Into(http.StatusCreated, nil)
}

type malleation struct {
	what      string
	signature []byte
}

// malleated changes a good signature in every way that needs no key.
func malleated(good []byte) []malleation {
	little := slices.Clone(good[32:])
	slices.Reverse(little)
	s := new(big.Int).SetBytes(little)
	list := []malleation{
		{"all zero", make([]byte, 64)},
		{"S = 0", slices.Concat(good[:32], make([]byte, 32))},
		{"S and R swapped", slices.Concat(good[32:], good[:32])},
		{"L - S", slices.Concat(good[:32], lowFirst(new(big.Int).Sub(groupOrder, s), 0))},
	}
	for n := int64(1); n < 8; n++ {
		if more := new(big.Int).Add(s, new(big.Int).Mul(groupOrder, big.NewInt(n))); more.BitLen() < 256 {
			list = append(list, malleation{fmt.Sprintf("S + %dL", n), slices.Concat(good[:32], lowFirst(more, 0))})
		}
	}
	for bit := 0; bit < 512; bit += 41 {
		flipped := slices.Clone(good)
		flipped[bit/8] ^= 1 << (bit % 8)
		list = append(list, malleation{fmt.Sprintf("bit %d", bit), flipped})
	}
	return list
}
