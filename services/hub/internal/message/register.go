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

// Challenge makes a challenge for one key of one owner: it serves once, within
// five minutes. Faults: invalid_request, weak_key, signer_exists for a key of
// the hub, db_unavailable.
func (s *Service) Challenge(ctx context.Context, owner Owner, publicKey string) (challenge string, expiresAt time.Time, err error) {
	key, err := s.freeKey(publicKey)
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

// freeKey reads a key that a client may have.
func (s *Service) freeKey(publicKey string) (Key, error) {
	key, err := ParseKey(publicKey)
	if err != nil {
		return "", err
	}
	if _, own := s.Keys.Find(key); own {
		return "", ErrSignerExists
	}
	return key, nil
}

// RegisterSigner adds a signer for the owner, who showed with the proof that the
// new key asks for exactly this. Faults: invalid_request, weak_key,
// insufficient_scope, invalid_proof, challenge_expired, signer_exists,
// signer_revoked, limit_reached, db_unavailable.
func (s *Service) RegisterSigner(ctx context.Context, owner Owner, d SignerDraft) (Signer, error) {
	if _, err := s.freeKey(d.PublicKey); err != nil {
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

// Signer gives one signer, revoked and expired ones too. Faults: not_found,
// db_unavailable.
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

// ListSigners gives the signers of a passport, newest first. Faults:
// invalid_request, db_unavailable.
func (s *Service) ListSigners(ctx context.Context, denpaID string) ([]Signer, error) {
	if !isUUID(denpaID) {
		return nil, badMember("denpaId", "denpaId is a uuid in lower case")
	}
	return s.Store.ListSigners(ctx, denpaID)
}

// RevokeSignersOf revokes the signers that were made with an operator key and returns their
// public keys; repeated it has the same answer. Fault: db_unavailable.
func (s *Service) RevokeSignersOf(ctx context.Context, keyID string) ([]string, error) {
	return s.Store.RevokeSignersOfKey(ctx, keyID, s.now())
}

// keyPage is how many operator keys one request asks the ledger about.
const keyPage = 500

// SweepKeys revokes signers whose operator key was revoked while this service or its
// database was unavailable, and returns how many keys had such signers. Faults:
// db_unavailable, signal_service_unavailable.
func (s *Service) SweepKeys(ctx context.Context) (swept int, err error) {
	after := "00000000-0000-0000-0000-000000000000"
	for {
		keys, err := s.Store.ListKeysInUse(ctx, after, s.now(), keyPage)
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
		if len(keys) < keyPage {
			return swept, nil
		}
		after = keys[len(keys)-1]
	}
}

// revokedKeys returns which operator keys are revoked or unknown.
func (s *Service) revokedKeys(ctx context.Context, ids []string) ([]string, error) {
	r, err := s.Operators.ListRevokedKeys(ctx, &operatorv1.ListRevokedKeysRequest{KeyIds: ids})
	return r.GetKeyIds(), err
}

// keyHolds faults with unauthenticated when the operator key that made the signer is
// revoked, also when the revocation did not reach this service yet.
func (s *Service) keyHolds(ctx context.Context, signer Signer) error {
	if signer.KeyID == "" {
		return nil
	}
	revoked, err := s.revokedKeys(ctx, []string{signer.KeyID})
	if err != nil || len(revoked) == 0 {
		return err
	}
	if _, err := s.RevokeSignersOf(ctx, signer.KeyID); err != nil {
		return err
	}
	return unauthenticated(ReasonRevoked, "the operator key of the signer was revoked")
}

// RevokeSigner removes a signer for ever; its messages stay. Through a grant only
// the grant's own signers are found. Asked again it answers the same. Faults:
// not_found, db_unavailable.
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
