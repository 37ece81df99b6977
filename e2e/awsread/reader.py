"""Reads an installation from AWS and compares it with docs/data-model.md, key by key.

Knows nothing of remuda but that page. Standard input: JSON with the names and endpoints, see Installation in
awsread.go. Prints one line per difference and exits with 1 if there is any.
"""

import base64
import hashlib
import json
import re
import sys

import boto3

wrong = []


def differ(where, text):
    wrong.append(f"{where}: {text}")


class Page:
    """The first Markdown table under each heading of the page."""

    def __init__(self, text):
        self.tables, heading, table = {}, "", []
        for line in text.splitlines():
            if line.startswith("|"):
                table.append([cell.strip() for cell in line.strip("|").split("|")])
                self.tables.setdefault(heading, table)
                continue
            table = []
            if line.startswith("#"):
                heading = line.lstrip("#").strip()

    def rows(self, heading):
        rows = self.tables[heading]
        return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]

    def types(self, heading):
        """The names of a table, each with its type."""
        rows = self.rows(heading)
        name = "key" if "key" in rows[0] else "attribute"
        return {literal(row[name]): row["type"] for row in rows}

    def optional(self, heading):
        """The names of a table that may be absent."""
        return {literal(row["attribute"]) for row in self.rows(heading) if row.get("meaning", "").startswith("optional: ")}


def literal(cell):
    return re.match(r"`([^`]*)`", cell).group(1)


# How an instant looks, and the kinds of DynamoDB's values by the types of the page.
INSTANT = re.compile(r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
KINDS = {"text": "S", "instant": "S", "number": "N", "boolean": "BOOL", "object": "M"}


class Reader:
    def __init__(self, page, given):
        self.page, self.given, self.seen = page, given, set()

    def client(self, service):
        return boto3.client(
            service, region_name=self.given["region"], endpoint_url=self.given["endpoints"][service],
            aws_access_key_id=self.given["key"], aws_secret_access_key="secretForTestsOnly",
        )

    def attributes(self, where, heading, values, plain=False):
        """Compares names and types of an object with the table under a heading."""
        types = self.page.types(heading)
        for name in values.keys() - types.keys():
            differ(f"{where}.{name}", "is not documented")
        for name in types.keys() - values.keys() - self.page.optional(heading):
            differ(f"{where}.{name}", "is documented and absent")
        for name in types.keys() & values.keys():
            self.seen.add((heading, name))
            (self.plain if plain else self.value)(f"{where}.{name}", types[name], values[name])

    def value(self, where, kind, value):
        (got, inner), = value.items()
        if part := re.fullmatch(r"\[(\w+)\]\(#\w+\)", kind):
            if got != "M":
                return differ(where, f"is {got}, documented as an object")
            return self.attributes(where, part.group(1), inner)
        if kind.startswith("list of "):
            if got == "NULL":
                return None
            if got != "L":
                return differ(where, f"is {got}, documented as a list")
            for i, one in enumerate(inner):
                self.value(f"{where}[{i}]", kind.removeprefix("list of "), one)
            return None
        if got != KINDS[kind]:
            return differ(where, f"is {got}, documented as {kind}")
        if kind == "instant" and not INSTANT.fullmatch(inner):
            differ(where, f"is no instant: {inner!r}")

    def plain(self, where, kind, value):
        good = {"text": isinstance(value, str), "number": type(value) is int,
                "instant": isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z", value)}
        if not good[kind]:
            differ(where, f"is {value!r}, documented as {kind}")

    def table(self):
        """Settings of the table."""
        db = self.client("dynamodb")
        name = self.given["table"]
        table = db.describe_table(TableName=name)["Table"]
        expiry = db.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        keys = {k["KeyType"]: k["AttributeName"] for k in table["KeySchema"]}
        kinds = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
        got = {
            "partition key": keys.get("HASH"), "sort key": keys.get("RANGE"), "kind of both keys": "".join(sorted(set(kinds.values()))),
            "billing mode": table.get("BillingModeSummary", {}).get("BillingMode"),
            "time to live": expiry.get("AttributeName") if expiry["TimeToLiveStatus"] in ("ENABLED", "ENABLING") else "off",
            "indexes": str(table.get("GlobalSecondaryIndexes", []) + table.get("LocalSecondaryIndexes", []) or "none"),
            "stream": "some" if table.get("StreamSpecification", {}).get("StreamEnabled") else "none",
        }
        self.settings(f"table {name}", {row["setting"]: literal(row["value"]) for row in self.page.rows("Table")}, got)

    def settings(self, where, want, got):
        for name in want.keys() | got.keys():
            if want.get(name) != got.get(name):
                differ(f"{where}.{name}", f"is {got.get(name)!r}, documented as {want.get(name)!r}")

    def items(self):
        """Every item is one of the documented records."""
        records = []
        for row in self.page.rows("Data model"):
            form = re.sub("<[^>]*>", ".+", literal(row["partition key"]))
            records.append((re.match(r"\[(\w+)\]", row["record"]).group(1), form, literal(row["sort key"]), row))
        own = {literal(row["attribute"]) for row in self.page.rows("Item")}
        pages = self.client("dynamodb").get_paginator("scan").paginate(TableName=self.given["table"], ConsistentRead=True)
        for item in (item for page in pages for item in page["Items"]):
            key = (item["PK"]["S"], item["SK"]["S"])
            where = " ".join(key)
            found = [r for r in records if re.fullmatch(r[1], key[0]) and r[2] == key[1]]
            if len(found) != 1:
                differ(where, f"has the key of {len(found)} documented records")
                continue
            name, _, _, row = found[0]
            self.seen.add(("record", name))
            self.seen |= {("Item", a) for a in own & item.keys()}
            if ("version" in item) != (row["version"] == "yes"):
                differ(where, f"version: {item.get('version')}, documented as {row['version']}")
            if "expiresAt" in item and row["expires"] == "never" or "expiresAt" not in item and row["expires"] == "always":
                differ(where, f"expiresAt: {item.get('expiresAt')}, documented as {row['expires']}")
            if "expiresAt" in item and row["expires"] not in ("always", "never"):
                self.seen.add(("expiry", name))
            for name_ in ("version", "expiresAt"):
                if name_ in item and not re.fullmatch(r"[1-9]\d*", item[name_].get("N", "")):
                    differ(where, f"{name_} is {item[name_]}")
            self.attributes(f"{where} ({name})", name, {k: v for k, v in item.items() if k not in own})

    # What SQS says of every queue, and its defaults.
    FACTS = {"QueueArn", "CreatedTimestamp", "LastModifiedTimestamp", "ApproximateNumberOfMessages",
             "ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible"}
    DEFAULTS = {"MaximumMessageSize": ("262144", "1048576")}

    def queues(self):
        """The queues are the documented ones, with their attributes and messages."""
        sqs = self.client("sqs")
        prefix, kinds = self.given["prefix"], {row["queue"]: row for row in self.page.rows("SQS")}
        names = {literal(kinds["notifications"]["name"]).replace("<table>", self.given["table"]): "notifications"}
        for name in self.given["classes"]:
            names[self.queue_name(literal(kinds["pool"]["name"]), prefix, name)] = "pool"
        urls = {}
        for start in {prefix, self.given["table"]}:
            for url in sqs.list_queues(QueueNamePrefix=start).get("QueueUrls", []):
                urls[url.rsplit("/", 1)[1]] = url
        for name in names.keys() ^ urls.keys():
            differ(f"queue {name}", "exists and is not documented" if name in urls else "is documented and absent")
        for name in names.keys() & urls.keys():
            kind = names[name]
            got = sqs.get_queue_attributes(QueueUrl=urls[name], AttributeNames=["All"])["Attributes"]
            got = {k: v for k, v in got.items() if k not in self.FACTS and v not in self.DEFAULTS.get(k, ())}
            self.settings(f"queue {name}", {literal(r["attribute"]): literal(r[kind]) for r in self.page.rows("Queue attributes")}, got)
            heading = re.match(r"\[(\w+)\]", kinds[kind]["messages"]).group(1)
            while messages := sqs.receive_message(QueueUrl=urls[name], MaxNumberOfMessages=10, WaitTimeSeconds=0, VisibilityTimeout=600).get("Messages"):
                for message in messages:
                    self.attributes(f"message in {name}", heading, json.loads(message["Body"]), plain=True)
                    if message.get("MessageAttributes"):
                        differ(f"message in {name}", "has attributes, which are not documented")

    def queue_name(self, form, prefix, name):
        full = form.replace("<prefix>", prefix).replace("<class>", name)
        if re.fullmatch(r"[A-Za-z0-9_]+", name) and name != "events" and len(full) <= 80:
            return full
        digits = lambda text: hashlib.sha256(text.encode()).hexdigest()
        return re.sub(r"[^A-Za-z0-9_-]", "-", full)[:55] + "-" + digits(prefix)[:8] + digits(f"{len(prefix)}:{prefix}{name}")[:16]

    def tags(self):
        """Launch template, instances, and their volumes and fleets carry the documented tags."""
        ec2 = self.client("ec2")
        mine = [{"Name": "tag:remuda-name", "Values": [self.given["name"]]}]
        things = {
            "launch template": [t["Tags"] for t in ec2.describe_launch_templates(Filters=mine)["LaunchTemplates"]],
            "instance": [i["Tags"] for r in ec2.describe_instances(Filters=mine)["Reservations"] for i in r["Instances"]],
            "volume": [v["Tags"] for v in ec2.describe_volumes(Filters=mine)["Volumes"]],
        }
        for kind in self.given["tagged"]:
            want = {literal(row["tag"]) for row in self.page.rows("Tags") if kind in row["on"].split(", ")} | self.given["tags"].keys()
            if not things[kind]:
                differ(f"tags of {kind}", "there is none")
            for tags in things[kind]:
                got = {t["Key"]: t["Value"] for t in tags}
                self.settings(f"tags of {kind}", dict.fromkeys(want, True), dict.fromkeys(got, True))
                self.settings(f"tags of {kind}", self.given["tags"], {k: v for k, v in got.items() if k in self.given["tags"]})
                if kind != "launch template":
                    for key, values in (("remuda-launch", self.given["tokens"]), ("remuda-class", self.given["classes"])):
                        if got.get(key) not in values:
                            differ(f"tags of {kind}.{key}", f"is {got.get(key)!r}, want one of {values}")

    def template(self):
        """The default version of the launch template says what is documented, and nothing else."""
        ec2 = self.client("ec2")
        form = re.search(r"Its name is `([^`]*)`", self.given["page"]).group(1)
        version, = ec2.describe_launch_template_versions(
            LaunchTemplateName=form.replace("<name>", self.given["name"]), Versions=["$Default"])["LaunchTemplateVersions"]
        where = f"launch template {version['LaunchTemplateName']}"
        if not re.fullmatch("remuda [0-9a-f]{16}", version.get("VersionDescription", "")):
            differ(where, f"description {version.get('VersionDescription')!r}")
        got, data = {}, version["LaunchTemplateData"]
        data["TagSpecifications"] = [  # moto repeats the template's own tags here
            s for s in data.get("TagSpecifications", []) if s["ResourceType"] != "launch-template"]
        flatten(data, "", got)
        for row in self.page.rows("Launch template"):
            field, values = literal(row["field"]), got.pop(literal(row["field"]), None)
            if values is None:
                differ(f"{where}.{field}", "is documented and absent")
                continue
            if field == "UserData":
                script = base64.b64decode(values[0])
                if not script.startswith(b"#!/bin/") or len(script) > 16384:
                    differ(f"{where}.{field}", f"is no script or too long: {len(script)} bytes")
            elif row["value"].startswith("`"):
                want = literal(row["value"])
                want = self.given["settings"][want] if want.startswith("ec2.") else [want]
                if sorted(values) != sorted(want):
                    differ(f"{where}.{field}", f"is {values}, documented as {want}")
        for field in got:
            differ(f"{where}.{field}", f"is {got[field]} and not documented")

    def unseen(self):
        """Whatever is documented was written at least once."""
        for row in self.page.rows("Data model"):
            name = re.match(r"\[(\w+)\]", row["record"]).group(1)
            if ("record", name) not in self.seen:
                differ(name, "is documented, and no such item exists")
            if row["expires"] not in ("always", "never") and ("expiry", name) not in self.seen:
                differ(name, f"never expires, documented as {row['expires']}")
        for heading, rows in self.page.tables.items():
            if rows[0][1] == "type":
                for name in self.page.types(heading):
                    if (heading, name) not in self.seen:
                        differ(f"{heading}.{name}", "is documented and was never seen")


def flatten(value, path, out):
    """Puts the leaves of a launch template's data into out, as lists of texts by path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            flatten(inner, f"{path}.{name}".lstrip("."), out)
    elif isinstance(value, list):
        for inner in value:
            flatten(inner, path + "[]", out)
    else:
        out.setdefault(path, []).append(str(value).lower() if isinstance(value, bool) else str(value))


def main():
    given = json.load(sys.stdin)
    reader = Reader(Page(given["page"]), given)
    reader.table()
    reader.queues()
    reader.template()
    reader.tags()
    if given["records"]:
        reader.items()
        reader.unseen()
    print("\n".join(sorted(set(wrong))))
    sys.exit(1 if wrong else 0)


main()
