"""Recordings: HDF5 files that netCDF readers open and a killed run leaves readable."""

from .reader import open_recording, recover_recording
from .writer import ChannelSpec, RecordingWriter

__all__ = ["ChannelSpec", "RecordingWriter", "open_recording", "recover_recording"]
