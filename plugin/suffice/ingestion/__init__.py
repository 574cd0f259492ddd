"""The doors to and from DataHub: sources, the sink, and the run that ties them to a home."""

import os

# DataHub reports its use to its makers unless told otherwise, and reads this once, when it is first imported.
os.environ.setdefault("DATAHUB_TELEMETRY_ENABLED", "false")
