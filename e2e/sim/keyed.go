package sim

import "time"

// key draws for one thing that may happen: the same seed and the same parts give the same result,
// whatever was drawn before.
type key uint64

func newKey(seed uint64, parts ...string) key {
	h := newHash(seed)
	for _, p := range parts {
		h = h.text(p).end()
	}
	return key(h)
}

// hash is FNV-1a. It is written out here because a call is hashed several times, and hash/fnv allocates.
type hash uint64

func newHash(seed uint64) hash {
	h := hash(14695981039346656037)
	for range 8 {
		h = (h ^ hash(seed&0xff)) * 1099511628211
		seed >>= 8
	}
	return h
}

func (h hash) text(s string) hash {
	for i := range len(s) {
		h = (h ^ hash(s[i])) * 1099511628211
	}
	return h
}

// end ends a part.
func (h hash) end() hash { return h * 1099511628211 }

// call adds what Call.String says.
func (h hash) call(c Call) hash {
	return h.text(string(c.Role)).text("/").text(c.Method).text("/").text(c.Detail).text("/").text(c.About)
}

// next returns the key of another draw for the same thing.
func (k key) next() key { return key(mix(uint64(k) + 0x9e3779b97f4a7c15)) }

// float is uniform in [0,1).
func (k key) float() float64 { return float64(mix(uint64(k))>>11) / (1 << 53) }

// between is uniform in [from,to), to the nanosecond.
func (k key) between(from, to time.Duration) time.Duration {
	return from + time.Duration(k.float()*float64(to-from))
}

// below is uniform in 0 to n-1.
func (k key) below(n int) int { return int(k.float() * float64(n)) }

// mix is the finalizer of splitmix64 (Steele, Lea and Flood, 2014): every bit of the input reaches every
// bit of the output, which FNV alone does not do.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
