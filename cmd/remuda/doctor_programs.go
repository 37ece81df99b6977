package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/finding"
)

// programs fetches what machines fetch, as far as this shell can reach it, and compares the checksums.
func (o *doctorOptions) programs(ctx context.Context, c config.Config) (out []finding.Finding) {
	if !c.OnEC2() {
		return nil
	}
	if program, runner := fromRelease(c); program || runner {
		var err error
		if c, err = publishedHere(ctx, c); err != nil {
			return append(out, finding.Of("program", err, "", "machines can get neither program nor runner from the bucket: run `remuda init --publish`, or name them in ec2.binaryUrl and agent.runnerUrl"))
		}
	}
	for _, arch := range config.Architectures() {
		for _, p := range []struct{ check, setting, url, sum string }{
			{"program", "ec2.binarySha256", c.EC2.BinaryURL.For(arch), c.EC2.BinarySHA256.For(arch)},
			{"runner", "agent.runnerSha256", c.Agent.RunnerURL.For(arch), c.Agent.RunnerSHA256.For(arch)},
		} {
			out = append(out, programFinding(ctx, p.check, arch, p.url, p.sum, p.setting))
		}
	}
	return out
}

// programFinding fetches what url delivers to machines of an architecture.
func programFinding(ctx context.Context, check, arch, url, sum, setting string) finding.Finding {
	if url == "" {
		return finding.Finding{Check: check, Verdict: finding.Skipped, Detail: "for " + arch + " it is part of the image"}
	}
	if strings.HasPrefix(url, "s3://") {
		return finding.Finding{Check: check, Verdict: finding.Skipped, Detail: url + ", for " + arch + ", is read with the role of machines: their console says if it cannot be"}
	}
	shown := shownURL(url)
	got, size, err := fetchSum(ctx, url)
	if err == nil && !strings.EqualFold(got, sum) {
		err = fmt.Errorf("%s has SHA-256 %s, %s for %s is %s", shown, got, setting, arch, sum)
	}
	return finding.Of(check, err, fmt.Sprintf("%s, for %s: %.1f MB, SHA-256 as configured", shown, arch, float64(size)/1e6),
		"machines power off without it: put URL or checksum right")
}

// maxFetch bounds what is fetched, in bytes: the archive of a runner has 200 MB (agent/actionsrunner).
const maxFetch = 2 << 30

// fetchSum returns the SHA-256 of what a URL delivers, and how long that is in bytes.
func fetchSum(ctx context.Context, url string) (sum string, size int64, _ error) {
	body, err := get(ctx, url)
	if err != nil {
		return "", 0, err
	}
	defer body.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, io.LimitReader(body, maxFetch))
	if err != nil {
		return "", 0, fmt.Errorf("fetch %s: %w", shownURL(url), err)
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}
