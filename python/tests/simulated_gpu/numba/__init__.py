__version__ = "0.simulated"
