package caller

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
)

// Sign returns the signature of a text for a purpose, which is one word, with the first secret.
func (s *Sessions) Sign(purpose, text string) string { return s.signature(purpose + " " + text) }

// IsSigned reports whether a signature is that of a text for a purpose with one of the secrets.
func (s *Sessions) IsSigned(purpose, text, signature string) bool {
	mac, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	return err == nil && s.signed(purpose+" "+text, mac)
}

// sealKey separates the keys of Seal from the signatures of sessions, of forms and of texts.
const sealKey = "seal "

// Seal encrypts a text with AES-256-GCM and a key that is derived from the first secret. The result fits in a cookie.
func (s *Sessions) Seal(plain []byte) string {
	return base64.RawURLEncoding.EncodeToString(sealer(s.secrets[0]).Seal(nil, nil, plain, nil))
}

// Unseal decrypts a result of Seal with each of the secrets. Error: unauthenticated if none of them fits.
func (s *Sessions) Unseal(text string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errUnknownSession
	}
	for _, secret := range s.secrets {
		if plain, err := sealer(secret).Open(nil, nil, sealed, nil); err == nil {
			return plain, nil
		}
	}
	return nil, errUnknownSession
}

// sealer returns the cipher of a secret. It puts a random nonce before the text.
func sealer(secret []byte) cipher.AEAD {
	block, err := aes.NewCipher(sign(secret, sealKey))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size of GCM
	}
	return aead
}
