package message

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
)

const challengePrefix = "dch_"

// Challenge creates a challenge that the owner needs to register the key publicKey. The challenge can be used once, within
// ChallengeAge. Errors: invalid_request, weak_key, signer_exists for a key of the hub, db_unavailable.
func (s *Service) Challenge(ctx context.Context, owner Owner, publicKey string) (challenge string, expiresAt time.Time, err error) {
	key, err := s.clientKey(publicKey)
	if err != nil {
		return "", time.Time{}, err
	}
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	challenge = challengePrefix + base64.RawURLEncoding.EncodeToString(secret)
	now := s.now()
	expiresAt = now.Add(ChallengeAge)
	err = s.Store.AddChallenge(ctx, Challenge{
		Hash: hashOf(challenge), Key: key, DenpaID: owner.DenpaID, AppID: owner.AppID, ExpiresAt: expiresAt,
	}, now)
	return challenge, expiresAt, err
}

func hashOf(challenge string) []byte {
	sum := sha256.Sum256([]byte(challenge))
	return sum[:]
}

// clientKey parses a public key of a client. Errors: those of ParseKey, and ErrSignerExists for a key of the hub.
func (s *Service) clientKey(publicKey string) (Key, error) {
	key, err := ParseKey(publicKey)
	if err != nil {
		return "", err
	}
	if _, isHubKey := s.Keys.Find(key); isHubKey {
		return "", ErrSignerExists
	}
	return key, nil
}

// RegisterSigner adds a signer of the owner. The proof in d shows that the holder of the private key agrees to this registration.
// Errors: invalid_request, weak_key, insufficient_scope, invalid_proof, challenge_expired, signer_exists, signer_revoked,
// limit_reached, db_unavailable.
func (s *Service) RegisterSigner(ctx context.Context, owner Owner, d SignerDraft) (Signer, error) {
	if _, err := s.clientKey(d.PublicKey); err != nil {
		return Signer{}, err
	}
	signer, err := newSigner(owner, d, s.now())
	if err != nil {
		return Signer{}, err
	}
	proof, err := SignerProof(s.Issuer, owner, d)
	if err != nil {
		return Signer{}, err
	}
	if !isHex(d.Proof, signatureLetters) {
		return Signer{}, ErrProof
	}
	signature, err := hex.DecodeString(d.Proof)
	if err != nil || !signer.Key.Verify(proof, signature) {
		return Signer{}, ErrProof
	}
	if err := s.Store.AddSigner(ctx, signer, hashOf(d.Challenge), MaxSigners); err != nil {
		return Signer{}, err
	}
	return signer, nil
}

// Signer returns the signer with this public key, even if it is revoked or expired. Errors: not_found, db_unavailable.
func (s *Service) Signer(ctx context.Context, publicKey string) (Signer, error) {
	if !isHex(publicKey, keyLetters) {
		return Signer{}, ErrNotFound
	}
	signer, found, err := s.Store.FindSigner(ctx, Key(publicKey))
	if err == nil && !found {
		err = ErrNotFound
	}
	return signer, err
}

// ListSigners returns the signers of a user, newest first. Errors: invalid_request, db_unavailable.
func (s *Service) ListSigners(ctx context.Context, denpaID string) ([]Signer, error) {
	if !isUUID(denpaID) {
		return nil, badMember("denpaId", "denpaId must be a UUID in lower case")
	}
	return s.Store.ListSigners(ctx, denpaID)
}

// RevokeSignersOf revokes the signers that were created with an operator key and returns their public keys. A repeated call
// returns the same keys. Error: db_unavailable.
func (s *Service) RevokeSignersOf(ctx context.Context, keyID string) ([]string, error) {
	return s.Store.RevokeSignersOfKey(ctx, keyID, s.now())
}

// keyBatch is the maximum number of operator keys in one request to the ledger.
const keyBatch = 500

// SweepKeys revokes signers whose operator key is revoked in the ledger. It completes revocations that this service has missed.
// It returns the number of these operator keys. Errors: db_unavailable, signal_service_unavailable.
func (s *Service) SweepKeys(ctx context.Context) (swept int, err error) {
	after := "00000000-0000-0000-0000-000000000000"
	for {
		keys, err := s.Store.ListKeysInUse(ctx, after, s.now(), keyBatch)
		if err != nil || len(keys) == 0 {
			return swept, err
		}
		revoked, err := s.revokedKeys(ctx, keys)
		if err != nil {
			return swept, err
		}
		for _, id := range revoked {
			if _, err := s.RevokeSignersOf(ctx, id); err != nil {
				return swept, err
			}
			swept++
		}
		if len(keys) < keyBatch {
			return swept, nil
		}
		after = keys[len(keys)-1]
	}
}

// revokedKeys returns the ids of the given operator keys that are revoked or unknown.
func (s *Service) revokedKeys(ctx context.Context, ids []string) ([]string, error) {
	r, err := s.Operators.ListRevokedKeys(ctx, &operatorv1.ListRevokedKeysRequest{KeyIds: ids})
	return r.GetKeyIds(), err
}

// isKeyRevoked reports whether a signer was created by an operator key that is revoked. It reads the ledger, because the
// revocation may not have reached this service yet.
func (s *Service) isKeyRevoked(ctx context.Context, signer Signer) (bool, error) {
	if signer.KeyID == "" {
		return false, nil
	}
	revoked, err := s.revokedKeys(ctx, []string{signer.KeyID})
	return len(revoked) > 0, err
}

// checkOperatorKey returns unauthenticated if the operator key that created the signer is revoked, and then also revokes the
// signers of this key.
func (s *Service) checkOperatorKey(ctx context.Context, signer Signer) error {
	revoked, err := s.isKeyRevoked(ctx, signer)
	if err != nil || !revoked {
		return err
	}
	if _, err := s.RevokeSignersOf(ctx, signer.KeyID); err != nil {
		return err
	}
	return unauthenticated(ReasonRevoked, "the operator key of the signer was revoked")
}

// RevokeSigner revokes a signer permanently. Messages that the signer has signed remain. If owner has a grant, it can revoke only
// signers of this grant. A repeated call returns the same signer. Errors: not_found, db_unavailable.
func (s *Service) RevokeSigner(ctx context.Context, owner Owner, publicKey string) (Signer, error) {
	if !isHex(publicKey, keyLetters) {
		return Signer{}, ErrNotFound
	}
	by := "user"
	if owner.GrantID != "" {
		by = "app"
	}
	return s.Store.RevokeSigner(ctx, Key(publicKey), owner.DenpaID, owner.GrantID, by, s.now())
}
