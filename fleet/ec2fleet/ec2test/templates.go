package ec2test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// templates are the launch templates.
type templates struct {
	api     *api
	all     []*launchTemplate
	answers map[string]string // to requests for a version, by client token
	odds    Odds
}

type launchTemplate struct {
	id       string
	name     string
	tags     map[string]string
	versions []*version
	byDef    int // number of the default version
	made     int // versions, none of whose numbers is used again
	at       time.Time
}

type version struct {
	number      int
	description string
	data        *node
	at          time.Time
}

func (v *version) image() string { return v.data.str("ImageId") }

func (l *templates) remove(name string) {
	l.all = slices.DeleteFunc(l.all, func(t *launchTemplate) bool { return t.name == name })
}

// find returns a template by id or name and, of it, a version: a number, $Default or $Latest.
func (l *templates) find(id, name, number string) (*launchTemplate, *version, *failure) {
	at := slices.IndexFunc(l.all, func(t *launchTemplate) bool {
		return id != "" && t.id == id || id == "" && t.name == name
	})
	switch {
	case at < 0 && id != "":
		return nil, nil, bad("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
	case at < 0:
		return nil, nil, bad("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", name)
	}
	t := l.all[at]
	want := t.byDef
	if n, err := strconv.Atoi(number); err == nil {
		want = n
	} else if number == "$Latest" {
		want = t.latest()
	}
	for _, v := range t.versions {
		if v.number == want {
			return t, v, nil
		}
	}
	return nil, nil, bad("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template with ID %s.", number, t.id)
}

func (t *launchTemplate) show() string {
	return text("launchTemplateId", t.id) + text("launchTemplateName", t.name) + text("defaultVersionNumber", t.byDef) +
		text("latestVersionNumber", t.latest()) + text("createTime", t.at.UTC().Format(time.RFC3339)) + tagSet(t.tags)
}

// latest is the highest number that there is.
func (t *launchTemplate) latest() int { return t.versions[len(t.versions)-1].number }

func (t *launchTemplate) add(q *node) *version {
	t.made++
	v := &version{t.made, q.str("VersionDescription"), q.at("LaunchTemplateData"), time.Now()}
	t.versions = append(t.versions, v)
	return v
}

func (t *launchTemplate) showVersion(v *version) string {
	return text("launchTemplateId", t.id) + text("launchTemplateName", t.name) + text("versionNumber", v.number) +
		text("versionDescription", v.description) + text("defaultVersion", v.number == t.byDef) +
		text("createTime", v.at.UTC().Format(time.RFC3339)) + echo("LaunchTemplateData", v.data)
}

func (l *templates) describe(q *node) (string, *failure) {
	names := q.strings("LaunchTemplateName")
	if l.odds.AllTemplates {
		names = nil
	}
	all, missing := picked(l.all, names, func(t *launchTemplate) string { return t.name })
	if len(missing) > 0 {
		return "", bad("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist: %v", missing)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(t *launchTemplate) bool { return !tagged(t.tags, q.filters()) })
	page, next := paged(l.api, q, all)
	return next + set("launchTemplates", page, (*launchTemplate).show), nil
}

func (l *templates) describeVersions(q *node) (string, *failure) {
	t, v, failed := l.find(q.str("LaunchTemplateId"), q.str("LaunchTemplateName"), q.str("LaunchTemplateVersion", "1"))
	if failed != nil {
		return "", failed
	}
	all := []*version{v}
	if !q.has("LaunchTemplateVersion") {
		all = t.versions
	}
	page, next := paged(l.api, q, all)
	return next + set("launchTemplateVersionSet", page, t.showVersion), nil
}

func (l *templates) create(q *node) (string, *failure) {
	if f := l.api.malformed("CreateLaunchTemplate", cmp.Or(checkTemplate(q), checkTagSpecs(q, "launch-template"))); f != nil {
		return "", f
	}
	name := q.str("LaunchTemplateName")
	if slices.ContainsFunc(l.all, func(t *launchTemplate) bool { return t.name == name }) {
		return "", bad("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	t := &launchTemplate{id: newID("lt-"), name: name, byDef: 1, at: time.Now(), tags: q.list("TagSpecification")[0].tags()}
	t.add(q)
	l.all = append(l.all, t)
	return el("launchTemplate", t.show()), nil
}

func (l *templates) createVersion(q *node) (string, *failure) {
	if f := l.api.malformed("CreateLaunchTemplateVersion", checkTemplate(q)); f != nil {
		return "", f
	}
	token := q.str("ClientToken")
	if known, ok := l.answers[token]; ok {
		return known, nil
	}
	t, _, failed := l.find(q.str("LaunchTemplateId"), q.str("LaunchTemplateName"), "$Latest")
	if failed != nil {
		return "", failed
	}
	l.answers[token] = el("launchTemplateVersion", t.showVersion(t.add(q)))
	return l.answers[token], nil
}

func (l *templates) modify(q *node) (string, *failure) {
	t, v, failed := l.find(q.str("LaunchTemplateId"), q.str("LaunchTemplateName"), q.str("SetDefaultVersion"))
	if failed != nil {
		return "", failed
	}
	t.byDef = v.number
	return el("launchTemplate", t.show()), nil
}

func (l *templates) deleteTemplate(q *node) (string, *failure) {
	t, _, failed := l.find(q.str("LaunchTemplateId"), q.str("LaunchTemplateName"), "")
	if failed != nil {
		return "", failed
	}
	l.remove(t.name)
	return el("launchTemplate", t.show()), nil
}

func (l *templates) deleteVersions(q *node) (string, *failure) {
	t, _, failed := l.find(q.str("LaunchTemplateId"), q.str("LaunchTemplateName"), "")
	if failed != nil {
		return "", failed
	}
	done, kept := t.remove(q.strings("LaunchTemplateVersion"))
	return deletedAnswer(t.id, done, kept), nil
}

func (t *launchTemplate) remove(numbers []string) (done []string, kept map[string]string) {
	kept = make(map[string]string)
	for _, number := range numbers {
		at := slices.IndexFunc(t.versions, func(v *version) bool { return fmt.Sprint(v.number) == number })
		switch {
		case at < 0:
			kept[number] = "launchTemplateVersionDoesNotExist"
		case t.versions[at].number == t.byDef:
			kept[number] = "unexpectedError"
		default:
			t.versions = slices.Delete(t.versions, at, at+1)
			done = append(done, number)
		}
	}
	return done, kept
}

func deletedAnswer(id string, done []string, kept map[string]string) string {
	return set("successfullyDeletedLaunchTemplateVersionSet", done, func(n string) string {
		return text("launchTemplateId", id) + text("versionNumber", n)
	}) + set("unsuccessfullyDeletedLaunchTemplateVersionSet", sortedKeys(kept), func(n string) string {
		return text("launchTemplateId", id) + text("versionNumber", n) + el("responseError", text("code", kept[n]), text("message", "kept"))
	})
}
