package store

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/base64"
	"fmt"
	"strings"
)

// A registration is sealed to a key that its machine made before any job ran on it: HPKE in base mode with X25519,
// HKDF-SHA256 and ChaCha20-Poly1305 (RFC 9180). Its name and number are bound to it, so that the secret of one
// registration cannot be passed off as another's.
const sealedMark = "hpke1:"

func kdf() hpke.KDF   { return hpke.HKDFSHA256() }
func aead() hpke.AEAD { return hpke.ChaCha20Poly1305() }

func (r Registration) bound() []byte {
	return fmt.Appendf(nil, "remuda registration %s %d", r.Name, r.Serial)
}

// Sealed reports whether the secret can be read by its machine only.
func (r Registration) Sealed() bool { return strings.HasPrefix(r.Secret, sealedMark) }

// Seal returns r with its secret sealed to a machine's public key.
func (r Registration) Seal(public string) (Registration, error) {
	key, err := publicKey(public)
	if err != nil {
		return r, err
	}
	sealed, err := hpke.Seal(key, kdf(), aead(), r.bound(), []byte(r.Secret))
	if err != nil {
		return r, fmt.Errorf("seal registration %s: %w", r.Name, err)
	}
	r.Secret = sealedMark + base64.RawStdEncoding.EncodeToString(sealed)
	return r, nil
}

func publicKey(text string) (hpke.PublicKey, error) {
	if len(text) > maxName {
		return nil, short("beat.key", text)
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("beat.key: must be base64: %w", err)
	}
	key, err := ecdh.X25519().NewPublicKey(raw)
	if err != nil {
		return nil, fmt.Errorf("beat.key: must be a public key of X25519: %w", err)
	}
	return hpke.NewDHKEMPublicKey(key)
}

// MachineKey opens what is sealed to one machine.
type MachineKey struct{ private *ecdh.PrivateKey }

// NewMachineKey takes the 32 bytes of a private key of X25519.
func NewMachineKey(private []byte) (MachineKey, error) {
	key, err := ecdh.X25519().NewPrivateKey(private)
	if err != nil {
		return MachineKey{}, fmt.Errorf("machine key: %w", err)
	}
	return MachineKey{key}, nil
}

// Public returns the public part, as heartbeats and records hold it.
func (k MachineKey) Public() string {
	return base64.RawStdEncoding.EncodeToString(k.private.PublicKey().Bytes())
}

// Open returns r with its secret in the clear. One that was never sealed is left as it is.
func (k MachineKey) Open(r Registration) (Registration, error) {
	text, sealed := strings.CutPrefix(r.Secret, sealedMark)
	if !sealed {
		return r, nil
	}
	key, err := hpke.NewDHKEMPrivateKey(k.private)
	if err != nil {
		return r, fmt.Errorf("open registration %s: %w", r.Name, err)
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return r, fmt.Errorf("open registration %s: %w", r.Name, err)
	}
	secret, err := hpke.Open(key, kdf(), aead(), r.bound(), raw)
	if err != nil {
		return r, fmt.Errorf("open registration %s: sealed to another key, or changed: %w", r.Name, err)
	}
	r.Secret = string(secret)
	return r, nil
}
