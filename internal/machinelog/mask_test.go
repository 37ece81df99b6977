package machinelog

import (
	"slices"
	"strings"
	"testing"
)

func TestMask_H43(t *testing.T) {
	b64 := strings.Repeat("QUJDREVGR0g+/", 6)
	for name, tt := range map[string]struct{ text, want string }{
		"Plain":         {"state=running elapsed_seconds=2.5 tokens: 7", "state=running elapsed_seconds=2.5 tokens: 7"},
		"Classic":       {"x ghp_0123456789abcdefghijABCDEFGHIJ456789 y", "x *** y"},
		"Installation":  {"ghs_1234567_eyJhbGciOi.JSUzI1NiJ9.abc-def_0", "***"},
		"FineGrained":   {"t=github_pat_11ABCDEFG0123456789_abcdefghijkl", "t=***"},
		"JIT":           {"ACTIONS_RUNNER_INPUT_JITCONFIG=eyIucnVubmVyIjoi" + b64 + " --once", "ACTIONS_RUNNER_INPUT_JITCONFIG=*** --once"},
		"JITInNetJSON":  {`{"jit":"eyIucnVubmVyIjoi\u002BABCDEFGH"}`, `{"jit":"***"}`},
		"Registration":  {"--token AABF3JGZDX3P5PMEXLND6TS6FCWO6 --url u", "--token *** --url u"},
		"KeyID":         {"id AKIAIOSFODNN7EXAMPLE, ASIAIOSFODNN7EXAMPLE", "id ***, ***"},
		"SecretKey":     {`"SecretAccessKey" : "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",`, `"SecretAccessKey" : "***",`},
		"SessionToken":  {"AWS_SESSION_TOKEN=IQoJb3JpZ2luX2VjEJr//////////wEaCXVz", "AWS_SESSION_TOKEN=***"},
		"Authorization": {"> Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=0abc\nnext", "> Authorization:***\nnext"},
		"Bearer":        {"sent bearer abcdefghijklmnop.qrst", "sent bearer ***"},
		"Signed":        {"GET https://x.blob/p?sv=1&sig=ab%2Bcd&se=2", "GET https://x.blob/p?sv=1&sig=***&se=2"},
		"UserInfo":      {"clone https://bot:hunter2@git.example/r", "clone https://bot:***git.example/r"},
		"PrivateKey":    {"-----BEGIN RSA PRIVATE KEY-----\n" + b64 + "\n-----END RSA PRIVATE KEY-----\nnext", "***\nnext"},
		"KeyWithoutEnd": {"a\n-----BEGIN PRIVATE KEY-----\n" + b64, "a\n***"},
		"KeyWithoutTop": {b64 + "\n" + b64 + "\n-----END PRIVATE KEY-----\nnext", "***\nnext"},
		"InJSONInJSON":  {`{"msg":"{\\"token\\":\\"abcdefgh12345\\"}"}`, `{"msg":"{\\"token\\":\\"***"}"}`},
		"Words":         {`password="correct horse battery", next`, `password="***", next`},
		"Flag":          {"login --password hunter2hunter2 --once", "login --password *** --once"},
		"APIKey":        {"API_KEY=0123456789", "API_KEY=***"},
		"TokenInURL":    {"clone https://0123456789abcdef0123@git.example/r", "clone https://***git.example/r"},
		"InURL":         {"q?token%3DAABF3JGZDX3P5PMEXLND6TS6FCWO6&x", "q?token%3D***&x"},
		"InAName":       {"TOKEN_AABF3JGZDX3P5PMEXLND6TS6FCWO6_", "TOKEN_***_"},
		"PrefixedKey":   {"10-11 -----BEGIN PRIVATE KEY-----\n10-11 " + b64 + "\n10-11 -----END PRIVATE KEY-----\nnext", "10-11 ***\nnext"},
		"PrefixedEnd":   {"start\n10-11 " + b64 + "\n10-11 QUJD\n10-11 -----END PRIVATE KEY-----\nnext", "start\n***\nnext"},
		"KnownEncoded":  {"b3BlbiBzZXNhbWU= open+sesame", "***= ***"},
		"Known":         {"the word is open sesame, sesame", "the word is ***, sesame"},
		"KnownButShort": {"abc", "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Mask(tt.text, "open sesame", "abc", "")
			if got != tt.want {
				t.Errorf("Mask(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if again := Mask(got, "open sesame"); again != got && name != "Authorization" {
				t.Errorf("Mask of it = %q", again)
			}
			if len(got) > len(tt.text) {
				t.Errorf("it grew")
			}
		})
	}
}

// A secret that is known is masked however a program breaks it into lines.
func TestMask_KnownInLines_H43(t *testing.T) {
	secret := strings.Repeat("0123456789abcdefghijklmnopqrstuv", 20)
	for _, columns := range []int{64, 76} {
		var lines []string
		for line := range slices.Chunk([]byte(secret), columns) {
			lines = append(lines, string(line))
		}
		if got := Mask(strings.Join(lines, "\n"), secret); strings.Contains(got, secret[:columns/2]) {
			t.Errorf("in lines of %d: %q", columns, got)
		}
	}
}
